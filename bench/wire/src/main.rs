//! `bench-wire [case] [pods] [rounds]`: each case, or one of them, over the same list or watch of pods, or over the same
//! pods packed.
//!
//! With zero rounds it only makes the input, so that instructions counted in two runs can be subtracted.

mod pods;

use bytes::Bytes;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::FieldPath;
use kube_informer::form::{self, Decode, DecoderConfig, Packed};
use kube_informer::low_level::wire::{Encoding, ListReader, RawObject, WatchReader};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;
use std::{env, hint::black_box, time::Duration};

/// What hyper hands out on a fast connection.
const CHUNK: usize = 64 << 10;

struct Input {
    list: Vec<u8>,
    watch: Vec<u8>,
    /// Made only for the cases that read them.
    packed: Vec<Packed<Pod>>,
    /// A field that no plan declares.
    phase: FieldPath,
}

#[derive(Deserialize)]
struct List<T> {
    items: Vec<T>,
}

/// What a controller that decodes just the metadata it needs would write.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
struct Partial<'a> {
    #[serde(borrow)]
    metadata: PartialMeta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
struct PartialMeta<'a> {
    name: &'a str,
    namespace: &'a str,
    uid: &'a str,
    resource_version: &'a str,
    #[serde(borrow)]
    labels: &'a RawValue,
}

type Case = (&'static str, fn(&Input) -> usize);

const CASES: &[Case] = &[
    ("list-split", |input| read_list(&input.list, |item| item.len())),
    ("list-split-scan", |input| {
        read_list(&input.list, |item| {
            RawObject::scan(Encoding::Json, item).unwrap().name().len()
        })
    }),
    ("watch-split-scan", |input| {
        read_watch(&input.watch, |object| {
            RawObject::scan(Encoding::Json, object).unwrap().name().len()
        })
    }),
    ("serde-ignored", |input| {
        let _: IgnoredAny = serde_json::from_slice(&input.list).unwrap();
        input.list.len()
    }),
    ("serde-raw-items", |input| {
        let list: List<&RawValue> = serde_json::from_slice(&input.list).unwrap();
        list.items.len()
    }),
    ("serde-partial", |input| {
        let list: List<Partial<'_>> = serde_json::from_slice(&input.list).unwrap();
        list.items.len()
    }),
    ("serde-pods", |input| {
        // One at a time, as a streaming reader would: the cost of freeing is in it, that of a large heap is not.
        read_list(&input.list, |item| {
            serde_json::from_slice::<Pod>(&item)
                .unwrap()
                .metadata
                .name
                .map_or(0, |n| n.len())
        })
    }),
    ("form-pods", |input| {
        read_list(&input.list, |item| {
            let raw = RawObject::scan(Encoding::Json, item).unwrap();
            form::decode::<Pod>(&raw)
                .unwrap()
                .metadata
                .name
                .map_or(0, |n| n.len())
        })
    }),
    ("packed-body", |input| {
        input.packed.iter().map(|pod| pod.body().len()).sum()
    }),
    ("packed-field", |input| {
        let phase = |pod: &Packed<Pod>| pod.field::<String>(&input.phase).unwrap();
        input
            .packed
            .iter()
            .filter_map(phase)
            .map(|phase| phase.len())
            .sum()
    }),
    ("packed-decode", |input| {
        let name = |pod: &Packed<Pod>| {
            pod.decode()
                .unwrap()
                .metadata
                .name
                .as_ref()
                .map_or(0, String::len)
        };
        input.packed.iter().map(name).sum()
    }),
    ("packed-decode-recent", |input| {
        // As often, but the same few pods.
        let name = |pod: &Packed<Pod>| {
            pod.decode()
                .unwrap()
                .metadata
                .name
                .as_ref()
                .map_or(0, String::len)
        };
        let few = input.packed.iter().take(8).cycle();
        few.take(input.packed.len()).map(name).sum()
    }),
];

/// The items of a list as a cache holds them.
fn pack(list: &[u8]) -> Vec<Packed<Pod>> {
    let packer = Packed::<Pod>::decoder(DecoderConfig::default());
    let mut packed = Vec::new();
    read_list(list, |item| {
        let raw = RawObject::scan_with(Encoding::Json, item, &Packed::<Pod>::plan()).unwrap();
        packed.push(Packed::decode_raw(&packer, &raw.key(), &raw).unwrap());
        0
    });
    packed
}

fn read_list(body: &[u8], mut each: impl FnMut(Bytes) -> usize) -> usize {
    let mut reader = ListReader::new(Encoding::Json);
    let mut sum = 0;
    for chunk in body.chunks(CHUNK) {
        reader.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = reader.next().unwrap() {
            sum += each(item);
        }
    }
    reader.finish().unwrap();
    sum
}

fn read_watch(body: &[u8], mut each: impl FnMut(Bytes) -> usize) -> usize {
    let mut reader = WatchReader::new(Encoding::Json);
    let mut sum = 0;
    for chunk in body.chunks(CHUNK) {
        reader.push(Bytes::copy_from_slice(chunk));
        while let Some((_, object)) = reader.next().unwrap() {
            sum += each(object);
        }
    }
    reader.finish().unwrap();
    sum
}

/// What this thread has spent on a CPU, so that others who are busy disturb less.
fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |n: usize| arguments.get(n).map(String::as_str);
    let wanted = argument(0).unwrap_or("all");
    let pods: usize = argument(1).map_or(5_000, |text| text.parse().unwrap());
    let rounds: usize = argument(2).map_or(7, |text| text.parse().unwrap());

    let items: Vec<String> = (0..pods).map(pods::pod).collect();
    let list = format!(
        "{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"9\"}},\"items\":[{}]}}\n",
        items.join(",")
    );
    let watch: String = items
        .iter()
        .map(|item| {
            format!(
                "{{\"type\":\"ADDED\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{}}}\n",
                &item[1..]
            )
        })
        .collect();
    drop(items);
    let mut input = Input {
        list: list.into(),
        watch: watch.into(),
        packed: Vec::new(),
        phase: FieldPath::parse("/status/phase").unwrap(),
    };
    if wanted == "all" || wanted.starts_with("packed") {
        input.packed = pack(&input.list);
    }
    println!(
        "{pods} pods of {} bytes, best of {rounds} rounds",
        input.list.len() / pods
    );
    for (name, case) in CASES
        .iter()
        .filter(|(name, _)| wanted == "all" || wanted == *name)
    {
        let best = (0..rounds).map(|_| {
            let start = cpu_time();
            black_box(case(black_box(&input)));
            cpu_time() - start
        });
        if let Some(best) = best.min() {
            let per_second = input.list.len() as f64 / best.as_secs_f64();
            println!(
                "{name:18} {:7.3} GB/s {:9.0} pods/s {:7.1} us per pod",
                per_second / 1e9,
                pods as f64 / best.as_secs_f64(),
                best.as_secs_f64() * 1e6 / pods as f64
            );
        }
    }
}
