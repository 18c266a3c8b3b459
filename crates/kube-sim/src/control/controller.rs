//! The controllers that a cluster can have.

/// A controller of the control plane that a simulated cluster can have.
///
/// A controller acts right after the request that concerns it, before the answer is sent, so a test never
/// waits for a controller: when the deletion of an owner has been answered, its dependents have been deleted.
/// Watches see every step, in the order of a real cluster.
///
/// Those that create objects do not run by default: objects that nobody created surprise a test that lists
/// them. [`SimBuilder::controllers`](crate::SimBuilder::controllers) chooses others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Controller {
    /// Deletes objects whose owners are gone, in the background, in the foreground, or not at all (orphans).
    /// Runs by default. Without it, objects that are deleted in the foreground, or whose dependents are to
    /// stay, keep their finalizer.
    ///
    /// An object that a client creates with an owner that does not exist is deleted, too; one that is created
    /// through a [`Store`](crate::Store) stays.
    GarbageCollector,
    /// Deletes the objects in a namespace that is being deleted, writes into its status what is left, and
    /// removes it. Runs by default. Without it, a namespace stays `Terminating`, as with a kube-apiserver
    /// without a kube-controller-manager.
    NamespaceLifecycle,
    /// Stands in for the nodes: ends pods that are being deleted and were bound to a node, at once, as the
    /// kubelet does when all containers have ended. Runs by default. Without it, such a pod stays until it is
    /// deleted with a grace period of 0. Pods that are not bound are always deleted at once. Nor does anybody then take from a node
    /// the taint `node.kubernetes.io/not-ready`, which the server gives each node that a client creates.
    Kubelet,
    /// Writes the rules of the ClusterRoles that an `aggregationRule` selects into the role that has it. Runs
    /// by default. Without it, such a role has the rules with which it was written.
    ClusterRoleAggregation,
    /// Takes the finalizer `kubernetes.io/pvc-protection`, which the server gives each claim that a client creates, from a deleted
    /// claim that no pod on a node uses. Runs by default. Without it, deleted claims stay, as with a kube-apiserver without a
    /// kube-controller-manager.
    PersistentVolumeClaimProtection,
    /// The same for `kubernetes.io/pv-protection`: takes it from a deleted volume whose phase is not `Bound`. Runs by default.
    PersistentVolumeProtection,
    /// The same for `kubernetes.io/vac-protection`: takes it from a deleted VolumeAttributesClass that no volume or claim names. Runs
    /// by default.
    VolumeAttributesClassProtection,
    /// Creates the ConfigMap `kube-root-ca.crt` in each namespace. Off by default: it would be in every list
    /// of ConfigMaps.
    RootCaPublisher,
    /// Creates the ServiceAccount `default` in each namespace. Off by default: it would be in every list of
    /// service accounts.
    ServiceAccount,
    /// Creates the Service `kubernetes` in the namespace `default`, by which pods find the API server. Off by
    /// default: it would be in every list of Services. Nothing answers at its address.
    KubernetesService,
    /// Creates the roles and bindings with which a real server begins, such as the ClusterRoles
    /// `cluster-admin` and `view`, when the cluster is built. Off by default, unless they count
    /// ([`SimBuilder::rbac`](crate::SimBuilder::rbac)): they would be in every list of roles.
    BootstrapRoles,
    /// Creates what else a real server begins with when the cluster is built: the APIServices of the built-in groups, the flow
    /// schemas and priority levels, the ServiceCIDR `kubernetes`, and the ConfigMap
    /// `kube-apiserver-legacy-service-account-token-tracking`. Keeps an APIService for each version of a group that definitions serve.
    /// Off by default: they would be in lists. Nothing acts on them.
    BootstrapObjects,
}

impl Controller {
    /// All controllers.
    pub const ALL: [Self; 12] = [
        Self::GarbageCollector,
        Self::NamespaceLifecycle,
        Self::Kubelet,
        Self::ClusterRoleAggregation,
        Self::PersistentVolumeClaimProtection,
        Self::PersistentVolumeProtection,
        Self::VolumeAttributesClassProtection,
        Self::RootCaPublisher,
        Self::ServiceAccount,
        Self::KubernetesService,
        Self::BootstrapRoles,
        Self::BootstrapObjects,
    ];

    /// Those that run by default.
    pub const DEFAULT: [Self; 7] = [
        Self::GarbageCollector,
        Self::NamespaceLifecycle,
        Self::Kubelet,
        Self::ClusterRoleAggregation,
        Self::PersistentVolumeClaimProtection,
        Self::PersistentVolumeProtection,
        Self::VolumeAttributesClassProtection,
    ];
}
