//! Fingerprints.

use super::{
    arbitrary::{sample, space},
    *,
};

proptest! {
    #[test]
    fn kind_and_api_version_make_no_difference(sample in sample(), places in any::<(usize, usize)>(), space in space()) {
        let item = scan(&sample.item(space)).unwrap();
        let event = scan(&sample.event(places, space)).unwrap();
        prop_assert_eq!(item.fingerprint(), event.fingerprint());
    }

    #[test]
    fn any_other_byte_makes_a_difference(
        sample in sample(),
        places in any::<(usize, usize)>(),
        place in any::<u16>(),
        byte in any::<u8>(),
    ) {
        let before = sample.event(places, "");
        let metadata = sample.metadata.write("");
        let start = before.find(&metadata).unwrap();
        let mut after = before.clone().into_bytes();
        let changed = &mut after[start + metadata.len() * usize::from(place) / 65536];
        prop_assume!(*changed != byte);
        *changed = byte;
        let before = scan(&before).unwrap().fingerprint();
        if let Ok(after) = RawObject::scan(Encoding::Json, after.into()) {
            prop_assert_ne!(before, after.fingerprint());
        }
    }
}

#[test]
fn whitespace_between_members_makes_no_difference() {
    let fingerprint = |body| scan(body).unwrap().fingerprint();
    let plain = fingerprint(r#"{"metadata":{"name":"a"},"spec":{}}"#);
    for same in [
        r#"{"metadata":{"name":"a"},"kind":"A","spec":{}}"#,
        r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"spec":{}}"#,
        r#" { "k\u0069nd":"A" , "metadata":{"name":"a"} , "spec":{} , "apiVersion":"v1" } "#,
    ] {
        assert_eq!(fingerprint(same), plain, "{same}");
    }
    for other in [
        r#"{"spec":{},"metadata":{"name":"a"}}"#,
        r#"{"metadata":{"name":"a"},"spec":{"kind":"A"}}"#,
        r#"{"metadata":{"name":"a"},"spec":{},"spec":{}}"#,
        r#"{"metadata":{"name":"a"}}"#,
    ] {
        assert_ne!(fingerprint(other), plain, "{other}");
    }
}
