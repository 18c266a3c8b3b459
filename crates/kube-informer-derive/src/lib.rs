//! The derive macro of `kube-informer`, which re-exports it: see `kube_informer::CachedObject`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Member, Type, parse_macro_input};

/// Makes a struct of a few fields a form in which an informer can hold objects: a projection.
///
/// The struct is `Deserialize`, `Send` and `Sync`. The field named `metadata`, or the one marked `#[object(metadata)]`, holds
/// the metadata: a `kube_informer::form::Metadata`, an `ObjectMeta`, or anything else that is `HasMetadata`.
///
/// `#[object(resource = Pod)]` on the struct says which resource its objects are of (a type that is a `kube::Resource`), so
/// that a factory need not be told: `factory.informer::<PodView>()`. Without it, the resource is given with the request.
/// `PartialObjectMeta<Pod>` as the resource asks the server for metadata only.
#[proc_macro_derive(CachedObject, attributes(object))]
pub fn object(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream, Error> {
    let (name, metadata) = (&input.ident, metadata(input)?);
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "a projection has no parameters: implement `CachedObject` and `Decode`",
        ));
    }
    let resource = resource(input)?.map(|resource| {
        quote! {
            impl ::kube_informer::form::StaticResource for #name {
                type Resource = #resource;
            }
        }
    });
    let has = quote!(::kube_informer::form::HasMetadata);
    Ok(quote! {
        impl ::kube_informer::CachedObject for #name {
            type Handle = ::std::sync::Arc<Self>;

            fn name_of(object: &Self::Handle) -> &str {
                #has::name(&object.#metadata)
            }

            fn namespace_of(object: &Self::Handle) -> ::std::option::Option<&str> {
                #has::namespace(&object.#metadata)
            }

            fn uid_of(object: &Self::Handle) -> ::std::option::Option<&str> {
                #has::uid(&object.#metadata)
            }

            fn resource_version_of(object: &Self::Handle) -> ::std::option::Option<::kube_informer::ResourceVersion> {
                #has::resource_version(&object.#metadata).map(::std::convert::Into::into)
            }

            fn label_of<'a>(object: &'a Self::Handle, name: &str) -> ::std::option::Option<&'a str> {
                #has::label(&object.#metadata, name)
            }

            fn visit_labels(object: &Self::Handle, each: &mut dyn ::std::ops::FnMut(&str, &str)) -> bool {
                #has::visit_labels(&object.#metadata, each)
            }

            fn set_identity(
                object: &mut Self::Handle,
                key: &::kube_informer::ObjectKey,
                uid: ::std::option::Option<&str>,
                resource_version: ::std::option::Option<&::kube_informer::ResourceVersion>,
            ) -> bool {
                match ::std::sync::Arc::get_mut(object) {
                    ::std::option::Option::Some(object) => {
                        #has::set_identity(&mut object.#metadata, key, uid, resource_version)
                    }
                    ::std::option::Option::None => false,
                }
            }
        }

        impl ::kube_informer::form::Decode for #name {
            type Decoder = ();

            const EXPENSIVE: bool = true;

            fn decoder(_: ::kube_informer::form::DecoderConfig) {}

            fn decode_raw(
                _: &(),
                _: &::kube_informer::ObjectKey,
                raw: &::kube_informer::low_level::wire::RawObject,
            ) -> ::std::result::Result<Self::Handle, ::kube_informer::form::DecodeError> {
                ::kube_informer::form::decode(raw).map(::std::sync::Arc::new)
            }
        }

        #resource
    })
}

/// The resource that the struct says it is of.
fn resource(input: &DeriveInput) -> Result<Option<Type>, Error> {
    let mut resource = None;
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("object"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("resource") {
                return Err(meta.error("expected `resource = ...`; `metadata` belongs to a field"));
            }
            match resource.replace(meta.value()?.parse()?) {
                None => Ok(()),
                Some(_) => Err(meta.error("the resource is said twice")),
            }
        })?;
    }
    Ok(resource)
}

/// The field with the metadata.
fn metadata(input: &DeriveInput) -> Result<Member, Error> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.span(), "a projection is a struct"));
    };
    let mut marked = Vec::new();
    for (field, member) in data.fields.iter().zip(data.fields.members()) {
        for attribute in field
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("object"))
        {
            attribute.parse_nested_meta(|meta| {
                if !meta.path.is_ident("metadata") {
                    return Err(meta.error("expected `metadata`"));
                }
                marked.push(member.clone());
                Ok(())
            })?;
        }
    }
    let named = || match &data.fields {
        Fields::Named(fields) => {
            let mut names = fields.named.iter().filter_map(|field| field.ident.clone());
            names.find(|name| name == "metadata").map(Member::from)
        }
        _ => None,
    };
    match &marked[..] {
        [one] => Ok(one.clone()),
        [] => named().ok_or_else(|| {
            Error::new(
                input.span(),
                "which field is the metadata? Name it `metadata` or mark it `#[object(metadata)]`",
            )
        }),
        [_, second, ..] => Err(Error::new(second.span(), "the metadata is marked twice")),
    }
}
