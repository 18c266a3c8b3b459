//! The messages of `k8s.io.api.rbac.v1`.

use super::*;

pub(crate) static AggregationRule: Message = message("k8s.io.api.rbac.v1.AggregationRule", &[
    many(1, "clusterRoleSelectors", Msg(&meta_v1::LabelSelector), OmitEmpty),
]);

pub(crate) static ClusterRole: Message = object("k8s.io.api.rbac.v1.ClusterRole", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "rules", Msg(&rbac_v1::PolicyRule), Required),
    one(3, "aggregationRule", Msg(&rbac_v1::AggregationRule), Optional),
]);

pub(crate) static ClusterRoleBinding: Message = object("k8s.io.api.rbac.v1.ClusterRoleBinding", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "subjects", Msg(&rbac_v1::Subject), OmitEmpty),
    one(3, "roleRef", Msg(&rbac_v1::RoleRef), Required),
]);

pub(crate) static ClusterRoleBindingList: Message = object("k8s.io.api.rbac.v1.ClusterRoleBindingList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&rbac_v1::ClusterRoleBinding), Items),
]);

pub(crate) static ClusterRoleList: Message = object("k8s.io.api.rbac.v1.ClusterRoleList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&rbac_v1::ClusterRole), Items),
]);

pub(crate) static PolicyRule: Message = message("k8s.io.api.rbac.v1.PolicyRule", &[
    many(1, "verbs", String, Required),
    many(2, "apiGroups", String, OmitEmpty),
    many(3, "resources", String, OmitEmpty),
    many(4, "resourceNames", String, OmitEmpty),
    many(5, "nonResourceURLs", String, OmitEmpty),
]);

pub(crate) static Role: Message = object("k8s.io.api.rbac.v1.Role", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "rules", Msg(&rbac_v1::PolicyRule), Required),
]);

pub(crate) static RoleBinding: Message = object("k8s.io.api.rbac.v1.RoleBinding", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "subjects", Msg(&rbac_v1::Subject), OmitEmpty),
    one(3, "roleRef", Msg(&rbac_v1::RoleRef), Required),
]);

pub(crate) static RoleBindingList: Message = object("k8s.io.api.rbac.v1.RoleBindingList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&rbac_v1::RoleBinding), Items),
]);

pub(crate) static RoleList: Message = object("k8s.io.api.rbac.v1.RoleList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&rbac_v1::Role), Items),
]);

pub(crate) static RoleRef: Message = message("k8s.io.api.rbac.v1.RoleRef", &[
    one(1, "apiGroup", String, Required),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
]);

pub(crate) static Subject: Message = message("k8s.io.api.rbac.v1.Subject", &[
    one(1, "kind", String, Required),
    one(2, "apiGroup", String, OmitEmpty),
    one(3, "name", String, Required),
    one(4, "namespace", String, OmitEmpty),
]);
