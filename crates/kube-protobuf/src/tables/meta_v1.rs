//! The messages of `k8s.io.apimachinery.pkg.apis.meta.v1`.

use super::*;

pub(crate) static APIGroup: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.APIGroup", &[
    one(1, "name", String, Required),
    many(2, "versions", Msg(&meta_v1::GroupVersionForDiscovery), Required),
    one(3, "preferredVersion", Msg(&meta_v1::GroupVersionForDiscovery), OmitEmpty),
    many(4, "serverAddressByClientCIDRs", Msg(&meta_v1::ServerAddressByClientCIDR), OmitEmpty),
]);

pub(crate) static APIGroupList: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.APIGroupList", &[
    many(1, "groups", Msg(&meta_v1::APIGroup), Required),
]);

pub(crate) static APIResource: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.APIResource", &[
    one(1, "name", String, Required),
    one(2, "namespaced", Bool, Required),
    one(3, "kind", String, Required),
    one(4, "verbs", Msg(&meta_v1::Verbs), Required),
    many(5, "shortNames", String, OmitEmpty),
    one(6, "singularName", String, Required),
    many(7, "categories", String, OmitEmpty),
    one(8, "group", String, OmitEmpty),
    one(9, "version", String, OmitEmpty),
    one(10, "storageVersionHash", String, OmitEmpty),
]);

pub(crate) static APIResourceList: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.APIResourceList", &[
    one(1, "groupVersion", String, Required),
    many(2, "resources", Msg(&meta_v1::APIResource), Required),
]);

pub(crate) static APIVersions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.APIVersions", &[
    many(1, "versions", String, Required),
    many(2, "serverAddressByClientCIDRs", Msg(&meta_v1::ServerAddressByClientCIDR), Required),
]);

pub(crate) static ApplyOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.ApplyOptions", &[
    many(1, "dryRun", String, OmitEmpty),
    one(2, "force", Bool, Required),
    one(3, "fieldManager", String, Required),
]);

pub(crate) static Condition: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.Condition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "observedGeneration", Int64, OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), Required),
    one(5, "reason", String, Required),
    one(6, "message", String, Required),
]);

pub(crate) static CreateOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.CreateOptions", &[
    many(1, "dryRun", String, OmitEmpty),
    one(3, "fieldManager", String, OmitEmpty),
    one(4, "fieldValidation", String, OmitEmpty),
]);

pub(crate) static DeleteOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions", &[
    one(1, "gracePeriodSeconds", Int64, Optional),
    one(2, "preconditions", Msg(&meta_v1::Preconditions), Optional),
    one(3, "orphanDependents", Bool, Optional),
    one(4, "propagationPolicy", String, Optional),
    many(5, "dryRun", String, OmitEmpty),
    one(6, "ignoreStoreReadErrorWithClusterBreakingPotential", Bool, Optional),
]);

pub(crate) static Duration: Message = special("k8s.io.apimachinery.pkg.apis.meta.v1.Duration", Form::Duration, &[]);

pub(crate) static FieldSelectorRequirement: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement", &[
    one(1, "key", String, Required),
    one(2, "operator", String, Required),
    many(3, "values", String, OmitEmpty),
]);

pub(crate) static FieldsV1: Message = special("k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1", Form::Json, &[]);

pub(crate) static GetOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.GetOptions", &[
    one(1, "resourceVersion", String, OmitEmpty),
]);

pub(crate) static GroupKind: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupKind", &[
    one(1, "group", String, Required),
    one(2, "kind", String, Required),
]);

pub(crate) static GroupResource: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupResource", &[
    one(1, "group", String, Required),
    one(2, "resource", String, Required),
]);

pub(crate) static GroupVersionForDiscovery: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery", &[
    one(1, "groupVersion", String, Required),
    one(2, "version", String, Required),
]);

pub(crate) static GroupVersionKind: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupVersionKind", &[
    one(1, "group", String, Required),
    one(2, "version", String, Required),
    one(3, "kind", String, Required),
]);

pub(crate) static GroupVersionResource: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.GroupVersionResource", &[
    one(1, "group", String, Required),
    one(2, "version", String, Required),
    one(3, "resource", String, Required),
]);

pub(crate) static LabelSelector: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelector", &[
    map(1, "matchLabels", String, OmitEmpty),
    many(2, "matchExpressions", Msg(&meta_v1::LabelSelectorRequirement), OmitEmpty),
]);

pub(crate) static LabelSelectorRequirement: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement", &[
    one(1, "key", String, Required),
    one(2, "operator", String, Required),
    many(3, "values", String, OmitEmpty),
]);

pub(crate) static List: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.List", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&runtime::RawExtension), Items),
]);

pub(crate) static ListMeta: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.ListMeta", &[
    one(1, "selfLink", String, OmitEmpty),
    one(2, "resourceVersion", String, OmitEmpty),
    one(3, "continue", String, OmitEmpty),
    one(4, "remainingItemCount", Int64, Optional),
    one(5, "shardInfo", Msg(&meta_v1::ShardInfo), Optional),
]);

pub(crate) static ListOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.ListOptions", &[
    one(1, "labelSelector", String, OmitEmpty),
    one(2, "fieldSelector", String, OmitEmpty),
    one(3, "watch", Bool, OmitEmpty),
    one(4, "resourceVersion", String, OmitEmpty),
    one(5, "timeoutSeconds", Int64, Optional),
    one(7, "limit", Int64, OmitEmpty),
    one(8, "continue", String, OmitEmpty),
    one(9, "allowWatchBookmarks", Bool, OmitEmpty),
    one(10, "resourceVersionMatch", String, OmitEmpty),
    one(11, "sendInitialEvents", Bool, Optional),
    one(15, "shardSelector", String, OmitEmpty),
]);

pub(crate) static ManagedFieldsEntry: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry", &[
    one(1, "manager", String, OmitEmpty),
    one(2, "operation", String, OmitEmpty),
    one(3, "apiVersion", String, OmitEmpty),
    one(4, "time", Msg(&meta_v1::Time), Optional),
    one(6, "fieldsType", String, OmitEmpty),
    one(7, "fieldsV1", Msg(&meta_v1::FieldsV1), Optional),
    one(8, "subresource", String, OmitEmpty),
]);

pub(crate) static MicroTime: Message = special("k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", Form::MicroTime, &[]);

pub(crate) static ObjectMeta: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta", &[
    one(1, "name", String, OmitEmpty),
    one(2, "generateName", String, OmitEmpty),
    one(3, "namespace", String, OmitEmpty),
    one(4, "selfLink", String, OmitEmpty),
    one(5, "uid", String, OmitEmpty),
    one(6, "resourceVersion", String, OmitEmpty),
    one(7, "generation", Int64, OmitEmpty),
    one(8, "creationTimestamp", Msg(&meta_v1::Time), OmitZero),
    one(9, "deletionTimestamp", Msg(&meta_v1::Time), Optional),
    one(10, "deletionGracePeriodSeconds", Int64, Optional),
    map(11, "labels", String, OmitEmpty),
    map(12, "annotations", String, OmitEmpty),
    many(13, "ownerReferences", Msg(&meta_v1::OwnerReference), OmitEmpty),
    many(14, "finalizers", String, OmitEmpty),
    many(17, "managedFields", Msg(&meta_v1::ManagedFieldsEntry), OmitEmpty),
]);

pub(crate) static OwnerReference: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.OwnerReference", &[
    one(1, "kind", String, Required),
    one(3, "name", String, Required),
    one(4, "uid", String, Required),
    one(5, "apiVersion", String, Required),
    one(6, "controller", Bool, Optional),
    one(7, "blockOwnerDeletion", Bool, Optional),
]);

pub(crate) static PartialObjectMetadata: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
]);

pub(crate) static PartialObjectMetadataList: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Object(&METADATA), Items),
]);

pub(crate) static Patch: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.Patch", &[
]);

pub(crate) static PatchOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.PatchOptions", &[
    many(1, "dryRun", String, OmitEmpty),
    one(2, "force", Bool, Optional),
    one(3, "fieldManager", String, OmitEmpty),
    one(4, "fieldValidation", String, OmitEmpty),
]);

pub(crate) static Preconditions: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.Preconditions", &[
    one(1, "uid", String, Optional),
    one(2, "resourceVersion", String, Optional),
]);

pub(crate) static RootPaths: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.RootPaths", &[
    many(1, "paths", String, Required),
]);

pub(crate) static ServerAddressByClientCIDR: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR", &[
    one(1, "clientCIDR", String, Required),
    one(2, "serverAddress", String, Required),
]);

pub(crate) static ShardInfo: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.ShardInfo", &[
    one(1, "selector", String, Required),
]);

pub(crate) static Status: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.Status", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    one(2, "status", String, OmitEmpty),
    one(3, "message", String, OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "details", Msg(&meta_v1::StatusDetails), Optional),
    one(6, "code", Int32, OmitEmpty),
]);

pub(crate) static StatusCause: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.StatusCause", &[
    one(1, "reason", String, OmitEmpty),
    one(2, "message", String, OmitEmpty),
    one(3, "field", String, OmitEmpty),
]);

pub(crate) static StatusDetails: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.StatusDetails", &[
    one(1, "name", String, OmitEmpty),
    one(2, "group", String, OmitEmpty),
    one(3, "kind", String, OmitEmpty),
    many(4, "causes", Msg(&meta_v1::StatusCause), OmitEmpty),
    one(5, "retryAfterSeconds", Int32, OmitEmpty),
    one(6, "uid", String, OmitEmpty),
]);

pub(crate) static TableOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.TableOptions", &[
    one(1, "includeObject", String, OmitEmpty),
]);

pub(crate) static Time: Message = special("k8s.io.apimachinery.pkg.apis.meta.v1.Time", Form::Time, &[]);

pub(crate) static Timestamp: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.Timestamp", &[
    one(1, "seconds", Int64, Required),
    one(2, "nanos", Int32, Required),
]);

pub(crate) static UpdateOptions: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1.UpdateOptions", &[
    many(1, "dryRun", String, OmitEmpty),
    one(2, "fieldManager", String, OmitEmpty),
    one(3, "fieldValidation", String, OmitEmpty),
]);

pub(crate) static Verbs: Message = special("k8s.io.apimachinery.pkg.apis.meta.v1.Verbs", Form::Strings, &[]);

pub(crate) static WatchEvent: Message = message("k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent", &[
    one(1, "type", String, Required),
    one(2, "object", Msg(&runtime::RawExtension), Required),
]);
