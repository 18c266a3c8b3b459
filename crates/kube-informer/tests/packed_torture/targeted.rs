//! What random changes meet too rarely.

use super::*;
use std::sync::Barrier;

fn recipe(name: u32, owner: u32, template: u64, size: usize) -> Recipe {
    Recipe {
        name,
        owner,
        template,
        number: u64::from(name),
        era: template,
        size,
        broken: false,
    }
}

struct Packs {
    packer: Packer<Value>,
    plan: FieldPlan,
}

impl Packs {
    fn new() -> Self {
        let World { packer, plan, .. } = World::new();
        Self { packer, plan }
    }

    fn pack(&self, recipe: Recipe) -> (Packed<Value>, Recipe) {
        (pack(&self.packer, &self.plan, &recipe.truth()), recipe)
    }
}

/// Reads them on several threads at once, again and again, until `done` is done.
fn read_while<R>(objects: &[(Packed<Value>, Recipe)], done: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    let started = Barrier::new(4);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|skip| {
                let (stop, started) = (&stop, &started);
                scope.spawn(move || {
                    started.wait();
                    let mut objects = objects.iter().cycle().skip(skip * 7);
                    while !stop.load(Ordering::Relaxed) {
                        let (packed, recipe) = objects.next().unwrap();
                        about(recipe, || check(packed, recipe));
                    }
                })
            })
            .collect();
        started.wait();
        let result = done();
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        result
    })
}

#[test]
fn objects_outlive_the_dictionary_that_they_were_packed_with() {
    let packs = Packs::new();
    let first: Vec<_> = (0..120)
        .map(|name| packs.pack(recipe(name, name, 1, 600)))
        .collect();
    assert_eq!(packs.packer.stats().dictionaries, 1);
    let dictionaries = read_while(&first, || {
        // The nature of the data changes again and again.
        (1000..4600).for_each(|name| _ = packs.pack(recipe(name, name, 2 + u64::from(name) / 1800, 300)));
        packs.packer.stats().dictionaries
    });
    assert!(dictionaries > 1, "{:?}", packs.packer.stats());
    first.iter().for_each(|(packed, recipe)| check(packed, recipe));
}

#[test]
fn objects_outlive_their_family_and_its_bases() {
    let packs = Packs::new();
    (0..64).for_each(|name| _ = packs.pack(recipe(name, name, 1, 600)));
    // Each template in turn takes the base away from the one before.
    let family: Vec<_> = (0..60)
        .map(|name| packs.pack(recipe(name, 7, 10 + u64::from(name) / 10, 3000)))
        .collect();
    let families = packs.packer.stats().families;
    read_while(&family[5..], || {
        // What the bases were made of is gone, and so many other families come that unused ones are swept.
        for name in 1000..2000 {
            packs.pack(recipe(name, 100 + name / 2, u64::from(name / 2), 300));
        }
    });
    assert!(families > 0);
    drop(family);
    (0..600).for_each(|name| _ = packs.pack(recipe(name, 5000 + name / 2, 3, 300)));
    let stats = packs.packer.stats();
    assert!(stats.objects == 0 && stats.family_bytes < 2 << 20, "{stats:?}");
}

#[test]
fn decoded_objects_are_not_confused_with_their_successors() {
    let packer = Packed::<DynamicObject>::decoder(DecoderConfig::default());
    thread::scope(|scope| {
        for thread in 0..4 {
            let packer = &packer;
            scope.spawn(move || {
                let mut held = Vec::new();
                for number in 0..3000 {
                    // The same but for what is no part of the fingerprint.
                    let version = format!("v{thread}-{}", number % 5);
                    let body =
                        format!(r#"{{"apiVersion":"{version}","kind":"A","metadata":{{"name":"a"}}}}"#);
                    let raw = RawObject::scan(Encoding::Json, body.into()).unwrap();
                    let packed: Packed<DynamicObject> = Packed::decode_raw(packer, &raw.key(), &raw).unwrap();
                    let decoded = packed.decode().unwrap();
                    assert_eq!(decoded.types.as_ref().unwrap().api_version, version);
                    held.push(decoded);
                    if held.len() > 100 {
                        held.clear();
                    }
                }
            });
        }
    });
}

#[test]
fn who_decodes_at_once_gets_the_same_object() {
    let packs = Packs::new();
    for name in 0..200 {
        let (packed, _) = packs.pack(recipe(name, name, 1, 300));
        let start = Barrier::new(4);
        let decoded: Vec<_> = thread::scope(|scope| {
            let decode = || {
                start.wait();
                packed.decode().unwrap()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(decode)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // All are held, so there is one.
        assert!(decoded.iter().all(|object| Arc::ptr_eq(object, &decoded[0])));
    }
}

#[test]
fn an_object_that_grows_and_shrinks_takes_no_more_than_its_size() {
    let packs = Packs::new();
    (0..64).for_each(|name| _ = packs.pack(recipe(name, name, 1, 600)));
    let mut siblings = Vec::new();
    for round in 0..2 {
        for size in [300, 30_000, 131_072, 300_000, 300] {
            siblings = (0..2)
                .map(|name| packs.pack(recipe(round * 2 + name, 1, 5, size)))
                .collect();
            siblings.iter().for_each(|(packed, recipe)| check(packed, recipe));
        }
    }
    let small: usize = siblings.iter().map(|(packed, _)| packed.size()).sum();
    assert!(small < 8000, "{small}");
}
