//! How a body is stored: uncompressed, or compressed with or without a dictionary.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use zstd_safe::{CCtx, CParameter, DCtx, DDict};

/// The compression level. Level 3 saves a few percent more space but takes half as long again.
const LEVEL: i32 = 1;
/// The size of a dictionary in bytes. Larger ones compress no better and make every object slower.
const DICTIONARY_SIZE: usize = 16 << 10;
/// The number of samples used for validation; the dictionary is made of the others.
pub(super) const VALIDATION_SAMPLES: usize = 8;
/// The highest compression ratio (compressed size divided by size) of the validation samples at which a dictionary is
/// used.
const MAX_RATIO: f64 = 0.75;

/// A concatenated dictionary is used only if its ratio is at most this part of the trained one's: it has no entropy tables, so zstd
/// builds them for each object, which takes half of the time.
const CONCATENATED_FACTOR: f64 = 0.8;
/// A dictionary replaces one of the same sort if its ratio is at most this part of the current one's.
const BETTER: f64 = 0.9;

/// How the body of an object is stored.
#[derive(Debug, Clone)]
pub(super) enum Coding {
    Plain,
    /// Compressed without a dictionary.
    NoDictionary,
    Dictionary(Arc<Dictionary>),
    /// Compressed with another body as the dictionary.
    Delta(Arc<Base>),
}

/// A body that serves as the dictionary of others.
#[derive(Debug)]
pub(super) struct Base {
    coding: Coding,
    stored: Box<[u8]>,
    size: usize,
    /// The stored bytes of all bases.
    all: Arc<AtomicU64>,
}

/// A dictionary, also prepared for decompression.
pub(super) struct Dictionary {
    prepared: DDict<'static>,
    pub(super) bytes: Box<[u8]>,
}

/// Compresses with one dictionary or without one.
pub(super) struct Compressor {
    context: CCtx<'static>,
    coding: Coding,
    trained: bool,
}

/// Idle decompression contexts. A context takes 150 KiB and some time to create, so they are reused.
static CONTEXTS: Mutex<Vec<DCtx<'static>>> = Mutex::new(Vec::new());

/// The length of a uid, which may be put back into the body.
const UID_ROOM: usize = 36;

impl Coding {
    /// Reads a body of `size` bytes. It is empty, which is logged, if it cannot be decompressed: this cannot happen to bytes
    /// that this module has compressed, but to saved ones that somebody has changed together with their checksum.
    pub(super) fn read(&self, stored: &[u8], size: usize) -> Vec<u8> {
        if let Self::Plain = self {
            return stored.to_vec();
        }
        let base = match self {
            Self::Delta(base) => base.body(),
            _ => Vec::new(),
        };
        let context = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = context.unwrap_or_else(DCtx::create);
        let mut body = Vec::with_capacity(size + UID_ROOM);
        let read = match self {
            Self::Dictionary(dictionary) => {
                context.decompress_using_ddict(&mut body, stored, &dictionary.prepared)
            }
            // An empty dictionary means no dictionary.
            _ => context.decompress_using_dict(&mut body, stored, &base),
        };
        if let Err(code) = read {
            let error = zstd_safe::get_error_name(code);
            tracing::error!(error, "an object cannot be decompressed");
            body.clear();
        }
        CONTEXTS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(context);
        body
    }
}

impl Base {
    /// A base of `size` bytes, stored as `stored`. Its stored size is added to `all` until it is dropped.
    pub(super) fn new(coding: Coding, stored: &[u8], size: usize, all: Arc<AtomicU64>) -> Self {
        all.fetch_add(stored.len() as u64, Ordering::Relaxed);
        Self {
            coding,
            stored: stored.into(),
            size,
            all,
        }
    }

    /// How it is stored, its stored bytes, and its size.
    pub(super) fn parts(&self) -> (&Coding, &[u8], usize) {
        (&self.coding, &self.stored, self.size)
    }

    /// The stored size in bytes.
    pub(super) fn stored_size(&self) -> usize {
        self.stored.len()
    }

    /// The uncompressed body.
    pub(super) fn body(&self) -> Vec<u8> {
        self.coding.read(&self.stored, self.size)
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        self.all.fetch_sub(self.stored.len() as u64, Ordering::Relaxed);
    }
}

impl Compressor {
    /// A compressor without a dictionary.
    pub(super) fn without_dictionary() -> Self {
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
            coding: Coding::NoDictionary,
            trained: false,
        }
    }

    /// A compressor with this dictionary; `None` if zstd rejects it.
    pub(super) fn with(dictionary: Arc<Dictionary>) -> Option<Self> {
        let mut compressor = Self::without_dictionary();
        compressor.context.load_dictionary(&dictionary.bytes).ok()?;
        // Only trained ones have a header.
        compressor.trained = zstd_safe::get_dict_id_from_dict(&dictionary.bytes).is_some();
        compressor.coding = Coding::Dictionary(dictionary);
        Some(compressor)
    }

    /// A compressor whose dictionary begins with `samples`, or is trained on them if it may be and that is better; `None` if
    /// it does not compress them well enough.
    pub(super) fn of(samples: &[Vec<u8>], may_train: bool) -> Option<Self> {
        let (validation, samples) = samples.split_at_checked(VALIDATION_SAMPLES)?;
        let make = |dictionary: Vec<u8>| Self::with(Arc::new(Dictionary::new(&dictionary)?));
        let mut best = make(concatenated(samples));
        if may_train && let Some(mut trained) = trained(samples).and_then(make) {
            let is_better = |cut: &mut Self| cut.replaces(&mut trained, validation);
            if !best.as_mut().is_some_and(is_better) {
                best = Some(trained);
            }
        }
        let mut best = best?;
        (best.ratio(validation) < MAX_RATIO).then_some(best)
    }

    /// Whether it should be used instead of `current`, judged by these bodies.
    pub(super) fn replaces(&mut self, current: &mut Self, bodies: &[Vec<u8>]) -> bool {
        let factor = match (self.trained, current.trained) {
            (true, false) => 1.0 / CONCATENATED_FACTOR,
            (false, true) => CONCATENATED_FACTOR,
            _ => BETTER,
        };
        self.ratio(bodies) <= factor * current.ratio(bodies)
    }

    /// Whether its dictionary was trained.
    pub(super) fn is_trained(&self) -> bool {
        self.trained
    }

    /// The compression ratio of these bodies: compressed size divided by size.
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

    /// The coding of the bodies that it compresses.
    pub(super) fn coding(&self) -> &Coding {
        &self.coding
    }

    /// Writes a body into `out`, replacing its content, and returns its coding.
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

impl Dictionary {
    /// A dictionary of these bytes; `None` if zstd rejects it.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            prepared: DDict::try_create(bytes)?,
            bytes: bytes.into(),
        })
    }
}

/// Trains a dictionary with zstd; `None` if there are too few samples or they are too small.
fn trained(samples: &[Vec<u8>]) -> Option<Vec<u8>> {
    let sizes: Vec<usize> = samples.iter().map(Vec::len).collect();
    let mut dictionary = Vec::with_capacity(DICTIONARY_SIZE);
    zstd_safe::train_from_buffer(&mut dictionary, &samples.concat(), &sizes).ok()?;
    Some(dictionary)
}

/// Concatenates samples up to the size of a dictionary.
fn concatenated(samples: &[Vec<u8>]) -> Vec<u8> {
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
            .field("size", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
