//! How a body is kept: as it is, or compressed, by itself or with a dictionary.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use zstd_safe::{CCtx, CParameter, DCtx, DDict};

/// The fastest level whose output is small: level 3 saves a few percent more for half as much time again.
const LEVEL: i32 = 1;
/// Larger dictionaries compress no better and slow each object down.
const DICTIONARY_SIZE: usize = 16 << 10;
/// How many of the samples judge what the others made.
pub(super) const JUDGES: usize = 8;
/// How small judges must become for a dictionary to be worth it, in parts of their size.
const WORTH_IT: f64 = 0.75;

/// How small objects must become without tables, in parts of what they become with them.
const MUCH_BETTER: f64 = 0.8;

/// How the body of an object is kept.
#[derive(Debug, Clone)]
pub(super) enum Coding {
    Plain,
    /// Compressed by itself.
    Alone,
    With(Arc<Dictionary>),
    /// Compressed as what makes it differ from another body.
    Like(Arc<Base>),
}

/// A body that others are kept by.
#[derive(Debug)]
pub(super) struct Base {
    coding: Coding,
    kept: Box<[u8]>,
    size: usize,
    /// The bytes of all bases.
    all: Arc<AtomicU64>,
}

/// A dictionary to decompress with.
pub(super) struct Dictionary {
    prepared: DDict<'static>,
    pub(super) size: usize,
}

/// Compresses with one dictionary, or none.
pub(super) struct Compressor {
    context: CCtx<'static>,
    coding: Coding,
}

/// Contexts that nobody uses at the moment: one takes 150 KiB and some time to make.
static CONTEXTS: Mutex<Vec<DCtx<'static>>> = Mutex::new(Vec::new());

impl Coding {
    /// The body, which has `size` bytes.
    pub(super) fn read(&self, kept: &[u8], size: usize) -> Vec<u8> {
        if let Self::Plain = self {
            return kept.to_vec();
        }
        let base = match self {
            Self::Like(base) => base.body(),
            _ => Vec::new(),
        };
        let context = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = context.unwrap_or_else(DCtx::create);
        let mut body = Vec::with_capacity(size);
        let read = match self {
            Self::With(dictionary) => context.decompress_using_ddict(&mut body, kept, &dictionary.prepared),
            // An empty one is none.
            _ => context.decompress_using_dict(&mut body, kept, &base),
        };
        // We wrote it ourselves, and memory does not change.
        read.unwrap_or_else(|code| {
            panic!(
                "an object cannot be decompressed: {}",
                zstd_safe::get_error_name(code)
            )
        });
        CONTEXTS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(context);
        body
    }
}

impl Base {
    /// What stands in `kept` in this way, and has `size` bytes; it counts in `all` as long as it lives.
    pub(super) fn new(coding: Coding, kept: &[u8], size: usize, all: Arc<AtomicU64>) -> Self {
        all.fetch_add(kept.len() as u64, Ordering::Relaxed);
        Self {
            coding,
            kept: kept.into(),
            size,
            all,
        }
    }

    /// How many bytes it is kept in.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// As it was.
    pub(super) fn body(&self) -> Vec<u8> {
        self.coding.read(&self.kept, self.size)
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        self.all.fetch_sub(self.kept.len() as u64, Ordering::Relaxed);
    }
}

impl Compressor {
    /// Compresses each body by itself.
    pub(super) fn alone() -> Self {
        let mut context = CCtx::create();
        let parameters = [
            CParameter::CompressionLevel(LEVEL),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ];
        for parameter in parameters {
            context
                .set_parameter(parameter)
                .expect("a parameter within its bounds");
        }
        Self {
            context,
            coding: Coding::Alone,
        }
    }

    fn with(dictionary: &[u8]) -> Option<Self> {
        let mut compressor = Self::alone();
        compressor.context.load_dictionary(dictionary).ok()?;
        compressor.coding = Coding::With(Arc::new(Dictionary {
            prepared: DDict::try_create(dictionary)?,
            size: dictionary.len(),
        }));
        Some(compressor)
    }

    /// One with a dictionary learned from `samples`, if it makes enough of a difference to them.
    pub(super) fn learn(samples: &[Vec<u8>]) -> Option<Self> {
        let (judges, teachers) = samples.split_at_checked(JUDGES)?;
        let make = |dictionary: Option<Vec<u8>>| {
            let mut compressor = Self::with(&dictionary?)?;
            let ratio = compressor.ratio(judges);
            Some((compressor, ratio))
        };
        // What zstd trains spares each object tables of its own, which take as long as the rest.
        let best = match (make(trained(teachers)), make(Some(cut_from(teachers)))) {
            (Some(trained), Some(cut)) if cut.1 > MUCH_BETTER * trained.1 => Some(trained),
            (trained, cut) => cut.or(trained),
        };
        best.filter(|(_, ratio)| *ratio < WORTH_IT)
            .map(|(compressor, _)| compressor)
    }

    /// How small bodies become, in parts of their size.
    pub(super) fn ratio(&mut self, bodies: &[Vec<u8>]) -> f64 {
        let mut out = Vec::new();
        let (mut before, mut after) = (0, 0);
        for body in bodies {
            self.write(body, &mut out);
            before += body.len();
            after += out.len();
        }
        after as f64 / before.max(1) as f64
    }

    /// How it keeps bodies.
    pub(super) fn coding(&self) -> &Coding {
        &self.coding
    }

    /// Writes a body over what `out` holds, and says how it stands there.
    pub(super) fn write(&mut self, body: &[u8], out: &mut Vec<u8>) -> Coding {
        out.clear();
        out.reserve(zstd_safe::compress_bound(body.len()));
        match self.context.compress2(out, body) {
            Ok(size) if size < body.len() => self.coding.clone(),
            _ => {
                out.clear();
                out.extend_from_slice(body);
                Coding::Plain
            }
        }
    }
}

/// A dictionary that zstd makes of samples; not of too few or too small ones.
fn trained(samples: &[Vec<u8>]) -> Option<Vec<u8>> {
    let sizes: Vec<usize> = samples.iter().map(Vec::len).collect();
    let mut dictionary = Vec::with_capacity(DICTIONARY_SIZE);
    zstd_safe::train_from_buffer(&mut dictionary, &samples.concat(), &sizes).ok()?;
    Some(dictionary)
}

/// The samples themselves, as far as there is room.
fn cut_from(samples: &[Vec<u8>]) -> Vec<u8> {
    let mut dictionary = Vec::with_capacity(DICTIONARY_SIZE);
    for sample in samples {
        let room = DICTIONARY_SIZE - dictionary.len();
        dictionary.extend_from_slice(&sample[..sample.len().min(room)]);
    }
    dictionary
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
