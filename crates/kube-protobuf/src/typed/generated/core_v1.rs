//! The structs of `api::core::v1`.

use super::*;
use k8s_openapi::api::core::v1 as k8s;

impl Message for k8s::AWSElasticBlockStoreVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_id, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.partition, input),
            4 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Affinity {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.node_affinity.get_or_insert_default(), input),
            2 => message(self.pod_affinity.get_or_insert_default(), input),
            3 => message(self.pod_anti_affinity.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::AppArmorProfile {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => some(&mut self.localhost_profile, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::AttachedVolume {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.device_path, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::AzureDiskVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.disk_name, input),
            2 => set(&mut self.disk_uri, input),
            3 => some(&mut self.caching_mode, input),
            4 => some(&mut self.fs_type, input),
            5 => some(&mut self.read_only, input),
            6 => some(&mut self.kind, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::AzureFilePersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.secret_name, input),
            2 => set(&mut self.share_name, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => some(&mut self.secret_namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::AzureFileVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.secret_name, input),
            2 => set(&mut self.share_name, input),
            3 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Binding {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.target, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CSIPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => set(&mut self.volume_handle, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => some_unless_empty(&mut self.fs_type, input),
            5 => entry(self.volume_attributes.get_or_insert_default(), input),
            6 => message(self.controller_publish_secret_ref.get_or_insert_default(), input),
            7 => message(self.node_stage_secret_ref.get_or_insert_default(), input),
            8 => message(self.node_publish_secret_ref.get_or_insert_default(), input),
            9 => message(self.controller_expand_secret_ref.get_or_insert_default(), input),
            10 => message(self.node_expand_secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CSIVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => some(&mut self.read_only, input),
            3 => some(&mut self.fs_type, input),
            4 => entry(self.volume_attributes.get_or_insert_default(), input),
            5 => message(self.node_publish_secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Capabilities {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.add, &input), input),
            2 => push(room(&mut self.drop, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CephFSPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.monitors, &input), input),
            2 => some_unless_empty(&mut self.path, input),
            3 => some_unless_empty(&mut self.user, input),
            4 => some_unless_empty(&mut self.secret_file, input),
            5 => message(self.secret_ref.get_or_insert_default(), input),
            6 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CephFSVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.monitors, &input), input),
            2 => some_unless_empty(&mut self.path, input),
            3 => some_unless_empty(&mut self.user, input),
            4 => some_unless_empty(&mut self.secret_file, input),
            5 => message(self.secret_ref.get_or_insert_default(), input),
            6 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CinderPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_id, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => message(self.secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CinderVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_id, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => message(self.secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ClientIPConfig {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.timeout_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ClusterTrustBundleProjection {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.name, input),
            2 => some(&mut self.signer_name, input),
            3 => message(self.label_selector.get_or_insert_default(), input),
            4 => set(&mut self.path, input),
            5 => some(&mut self.optional, input),
            6 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ComponentCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_unless_empty(&mut self.message, input),
            4 => some_unless_empty(&mut self.error, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ComponentStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMap {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => entry(self.data.get_or_insert_default(), input),
            3 => entry(self.binary_data.get_or_insert_default(), input),
            4 => some(&mut self.immutable, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMapEnvSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut ConfigMapEnvSource1(self), input),
            2 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct ConfigMapEnvSource1<'a>(&'a mut k8s::ConfigMapEnvSource);

impl Message for ConfigMapEnvSource1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMapKeySelector {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut ConfigMapKeySelector1(self), input),
            2 => set(&mut self.key, input),
            3 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct ConfigMapKeySelector1<'a>(&'a mut k8s::ConfigMapKeySelector);

impl Message for ConfigMapKeySelector1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMapNodeConfigSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.namespace, input),
            2 => set(&mut self.name, input),
            3 => some_unless_empty(&mut self.uid, input),
            4 => some_unless_empty(&mut self.resource_version, input),
            5 => set(&mut self.kubelet_config_key, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMapProjection {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut ConfigMapProjection1(self), input),
            2 => push_message(room(&mut self.items, &input), input),
            4 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct ConfigMapProjection1<'a>(&'a mut k8s::ConfigMapProjection);

impl Message for ConfigMapProjection1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ConfigMapVolumeSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut ConfigMapVolumeSource1(self), input),
            2 => push_message(room(&mut self.items, &input), input),
            3 => some(&mut self.default_mode, input),
            4 => some(&mut self.optional, input),
            5 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.default_user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

struct ConfigMapVolumeSource1<'a>(&'a mut k8s::ConfigMapVolumeSource);

impl Message for ConfigMapVolumeSource1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Container {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(8, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some_unless_empty(&mut self.image, input),
            3 => push(room(&mut self.command, &input), input),
            4 => push(room(&mut self.args, &input), input),
            5 => some_unless_empty(&mut self.working_dir, input),
            6 => push_message(room(&mut self.ports, &input), input),
            7 => push_message(room(&mut self.env, &input), input),
            8 => message(self.resources.get_or_insert_default(), input),
            9 => push_message(room(&mut self.volume_mounts, &input), input),
            10 => message(self.liveness_probe.get_or_insert_default(), input),
            11 => message(self.readiness_probe.get_or_insert_default(), input),
            12 => message(self.lifecycle.get_or_insert_default(), input),
            13 => some_unless_empty(&mut self.termination_message_path, input),
            14 => some_unless_empty(&mut self.image_pull_policy, input),
            15 => message(self.security_context.get_or_insert_default(), input),
            16 => some_unless_empty(&mut self.stdin, input),
            17 => some_unless_empty(&mut self.stdin_once, input),
            18 => some_unless_empty(&mut self.tty, input),
            19 => push_message(room(&mut self.env_from, &input), input),
            20 => some_unless_empty(&mut self.termination_message_policy, input),
            21 => push_message(room(&mut self.volume_devices, &input), input),
            22 => message(self.startup_probe.get_or_insert_default(), input),
            23 => push_message(room(&mut self.resize_policy, &input), input),
            24 => some(&mut self.restart_policy, input),
            25 => { k8s_openapi::k8s_if_ge_1_34! { return push_message(room(&mut self.restart_policy_rules, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::ContainerExtendedResourceRequest {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.container_name, input),
            2 => set(&mut self.resource_name, input),
            3 => set(&mut self.request_name, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::ContainerImage {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.names, &input), input),
            2 => some_unless_empty(&mut self.size_bytes, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerPort {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.host_port, input),
            3 => set(&mut self.container_port, input),
            4 => some_unless_empty(&mut self.protocol, input),
            5 => some_unless_empty(&mut self.host_ip, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerResizePolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.resource_name, input),
            2 => set(&mut self.restart_policy, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::ContainerRestartRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.action, input),
            2 => message(self.exit_codes.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::ContainerRestartRuleOnExitCodes {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.operator, input),
            2 => push(room(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::ContainerState {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.waiting.get_or_insert_default(), input),
            2 => message(self.running.get_or_insert_default(), input),
            3 => message(self.terminated.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerStateRunning {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_time(&mut self.started_at, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerStateTerminated {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.exit_code, input),
            2 => some_unless_empty(&mut self.signal, input),
            3 => some_unless_empty(&mut self.reason, input),
            4 => some_unless_empty(&mut self.message, input),
            5 => some_time(&mut self.started_at, input),
            6 => some_time(&mut self.finished_at, input),
            7 => some_unless_empty(&mut self.container_id, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerStateWaiting {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.reason, input),
            2 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(self.state.get_or_insert_default(), input),
            3 => message(self.last_state.get_or_insert_default(), input),
            4 => set(&mut self.ready, input),
            5 => set(&mut self.restart_count, input),
            6 => set(&mut self.image, input),
            7 => set(&mut self.image_id, input),
            8 => some_unless_empty(&mut self.container_id, input),
            9 => some(&mut self.started, input),
            10 => entry(self.allocated_resources.get_or_insert_default(), input),
            11 => message(self.resources.get_or_insert_default(), input),
            12 => push_message(room(&mut self.volume_mounts, &input), input),
            13 => message(self.user.get_or_insert_default(), input),
            14 => push_message(room(&mut self.allocated_resources_status, &input), input),
            15 => some(&mut self.stop_signal, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerUser {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.linux.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DaemonEndpoint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.port, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DownwardAPIProjection {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.items, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DownwardAPIVolumeFile {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.path, input),
            2 => message(self.field_ref.get_or_insert_default(), input),
            3 => message(self.resource_field_ref.get_or_insert_default(), input),
            4 => some(&mut self.mode, input),
            5 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DownwardAPIVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.items, &input), input),
            2 => some(&mut self.default_mode, input),
            3 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.default_user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::EmptyDirVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.medium, input),
            2 => some_once(&mut self.size_limit, input),
            3 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i32::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.mode, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointAddress {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.ip, input),
            2 => message(self.target_ref.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.hostname, input),
            4 => some(&mut self.node_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointPort {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => set(&mut self.port, input),
            3 => some_unless_empty(&mut self.protocol, input),
            4 => some(&mut self.app_protocol, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EndpointSubset {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.addresses, &input), input),
            2 => push_message(room(&mut self.not_ready_addresses, &input), input),
            3 => push_message(room(&mut self.ports, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Endpoints {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.subsets, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EnvFromSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.prefix, input),
            2 => message(self.config_map_ref.get_or_insert_default(), input),
            3 => message(self.secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EnvVar {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some_unless_empty(&mut self.value, input),
            3 => message(self.value_from.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EnvVarSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.field_ref.get_or_insert_default(), input),
            2 => message(self.resource_field_ref.get_or_insert_default(), input),
            3 => message(self.config_map_key_ref.get_or_insert_default(), input),
            4 => message(self.secret_key_ref.get_or_insert_default(), input),
            5 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.file_key_ref.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::FileKeySelector, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::EphemeralContainer {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut EphemeralContainer1(self), input),
            2 => some_unless_empty(&mut self.target_container_name, input),
            _ => Some(()),
        }
    }
}

struct EphemeralContainer1<'a>(&'a mut k8s::EphemeralContainer);

impl Message for EphemeralContainer1<'_> {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(8, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            2 => some_unless_empty(&mut self.0.image, input),
            3 => push(room(&mut self.0.command, &input), input),
            4 => push(room(&mut self.0.args, &input), input),
            5 => some_unless_empty(&mut self.0.working_dir, input),
            6 => push_message(room(&mut self.0.ports, &input), input),
            7 => push_message(room(&mut self.0.env, &input), input),
            8 => message(self.0.resources.get_or_insert_default(), input),
            9 => push_message(room(&mut self.0.volume_mounts, &input), input),
            10 => message(self.0.liveness_probe.get_or_insert_default(), input),
            11 => message(self.0.readiness_probe.get_or_insert_default(), input),
            12 => message(self.0.lifecycle.get_or_insert_default(), input),
            13 => some_unless_empty(&mut self.0.termination_message_path, input),
            14 => some_unless_empty(&mut self.0.image_pull_policy, input),
            15 => message(self.0.security_context.get_or_insert_default(), input),
            16 => some_unless_empty(&mut self.0.stdin, input),
            17 => some_unless_empty(&mut self.0.stdin_once, input),
            18 => some_unless_empty(&mut self.0.tty, input),
            19 => push_message(room(&mut self.0.env_from, &input), input),
            20 => some_unless_empty(&mut self.0.termination_message_policy, input),
            21 => push_message(room(&mut self.0.volume_devices, &input), input),
            22 => message(self.0.startup_probe.get_or_insert_default(), input),
            23 => push_message(room(&mut self.0.resize_policy, &input), input),
            24 => some(&mut self.0.restart_policy, input),
            25 => { k8s_openapi::k8s_if_ge_1_34! { return push_message(room(&mut self.0.restart_policy_rules, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::EphemeralVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.volume_claim_template.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Event {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (5, Wire::Bytes(&[])), (14, Wire::Bytes(&[])), (15, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.involved_object, input),
            3 => some_unless_empty(&mut self.reason, input),
            4 => some_unless_empty(&mut self.message, input),
            5 => message(self.source.get_or_insert_default(), input),
            6 => some_time(&mut self.first_timestamp, input),
            7 => some_time(&mut self.last_timestamp, input),
            8 => some_unless_empty(&mut self.count, input),
            9 => some_unless_empty(&mut self.type_, input),
            10 => some_micro_time(&mut self.event_time, input),
            11 => message(self.series.get_or_insert_default(), input),
            12 => some_unless_empty(&mut self.action, input),
            13 => message(self.related.get_or_insert_default(), input),
            14 => some(&mut self.reporting_component, input),
            15 => some(&mut self.reporting_instance, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EventSeries {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.count, input),
            2 => some_micro_time(&mut self.last_observed_time, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::EventSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.component, input),
            2 => some_unless_empty(&mut self.host, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::EvictionResponder {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.priority, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::ExecAction {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.command, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FCVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.target_wwns, &input), input),
            2 => some(&mut self.lun, input),
            3 => some_unless_empty(&mut self.fs_type, input),
            4 => some_unless_empty(&mut self.read_only, input),
            5 => push(room(&mut self.wwids, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::FileKeySelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_name, input),
            2 => set(&mut self.path, input),
            3 => set(&mut self.key, input),
            4 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::FlexPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => message(self.secret_ref.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.read_only, input),
            5 => entry(self.options.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlexVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => message(self.secret_ref.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.read_only, input),
            5 => entry(self.options.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::FlockerVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.dataset_name, input),
            2 => some_unless_empty(&mut self.dataset_uuid, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::GCEPersistentDiskVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.pd_name, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.partition, input),
            4 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::GRPCAction {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.port, input),
            2 => some(&mut self.service, input),
            3 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.mode, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::GitRepoVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.repository, input),
            2 => some_unless_empty(&mut self.revision, input),
            3 => some_unless_empty(&mut self.directory, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::GlusterfsPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.endpoints, input),
            2 => set(&mut self.path, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => some(&mut self.endpoints_namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::GlusterfsVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.endpoints, input),
            2 => set(&mut self.path, input),
            3 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HTTPGetAction {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.path, input),
            2 => set_once(&mut self.port, input),
            3 => some_unless_empty(&mut self.host, input),
            4 => some_unless_empty(&mut self.scheme, input),
            5 => push_message(room(&mut self.http_headers, &input), input),
            6 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.protocol, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::HTTPHeader {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.value, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HostAlias {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.ip, input),
            2 => push(room(&mut self.hostnames, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HostIP {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.ip, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HostPathVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.path, input),
            2 => some(&mut self.type_, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ISCSIPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.target_portal, input),
            2 => set(&mut self.iqn, input),
            3 => set(&mut self.lun, input),
            4 => some_unless_empty(&mut self.iscsi_interface, input),
            5 => some_unless_empty(&mut self.fs_type, input),
            6 => some_unless_empty(&mut self.read_only, input),
            7 => push(room(&mut self.portals, &input), input),
            8 => some_unless_empty(&mut self.chap_auth_discovery, input),
            10 => message(self.secret_ref.get_or_insert_default(), input),
            11 => some_unless_empty(&mut self.chap_auth_session, input),
            12 => some(&mut self.initiator_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ISCSIVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.target_portal, input),
            2 => set(&mut self.iqn, input),
            3 => set(&mut self.lun, input),
            4 => some_unless_empty(&mut self.iscsi_interface, input),
            5 => some_unless_empty(&mut self.fs_type, input),
            6 => some_unless_empty(&mut self.read_only, input),
            7 => push(room(&mut self.portals, &input), input),
            8 => some_unless_empty(&mut self.chap_auth_discovery, input),
            10 => message(self.secret_ref.get_or_insert_default(), input),
            11 => some_unless_empty(&mut self.chap_auth_session, input),
            12 => some(&mut self.initiator_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ImageVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.reference, input),
            2 => some_unless_empty(&mut self.pull_policy, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ImageVolumeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.image_ref, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::KeyToPath {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => set(&mut self.path, input),
            3 => some(&mut self.mode, input),
            4 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::Lifecycle {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.post_start.get_or_insert_default(), input),
            2 => message(self.pre_stop.get_or_insert_default(), input),
            3 => some(&mut self.stop_signal, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LifecycleHandler {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.exec.get_or_insert_default(), input),
            2 => message(self.http_get.get_or_insert_default(), input),
            3 => message(self.tcp_socket.get_or_insert_default(), input),
            4 => message(self.sleep.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LimitRange {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LimitRangeItem {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => entry(self.max.get_or_insert_default(), input),
            3 => entry(self.min.get_or_insert_default(), input),
            4 => entry(self.default.get_or_insert_default(), input),
            5 => entry(self.default_request.get_or_insert_default(), input),
            6 => entry(self.max_limit_request_ratio.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LimitRangeSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.limits, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LinuxContainerUser {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.uid, input),
            2 => set(&mut self.gid, input),
            3 => push(room(&mut self.supplemental_groups, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LoadBalancerIngress {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.ip, input),
            2 => some_unless_empty(&mut self.hostname, input),
            3 => some(&mut self.ip_mode, input),
            4 => push_message(room(&mut self.ports, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LoadBalancerStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.ingress, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LocalObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::LocalVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.path, input),
            2 => some(&mut self.fs_type, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ModifyVolumeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.target_volume_attributes_class_name, input),
            2 => set(&mut self.status, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NFSVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.server, input),
            2 => set(&mut self.path, input),
            3 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Namespace {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NamespaceCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            4 => some_time(&mut self.last_transition_time, input),
            5 => some_unless_empty(&mut self.reason, input),
            6 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NamespaceSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.finalizers, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NamespaceStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.phase, input),
            2 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Node {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeAddress {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.address, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeAffinity {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.required_during_scheduling_ignored_during_execution.get_or_insert_default(), input),
            2 => push_message(room(&mut self.preferred_during_scheduling_ignored_during_execution, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodeAllocatableMappedResources {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set_once(&mut self.quantity, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodeAllocatableOverheadResources {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some_once(&mut self.per_pod, input),
            3 => some_once(&mut self.per_container, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::NodeAllocatableResourceClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.resource_claim_name, input),
            2 => push(room(&mut self.containers, &input), input),
            4 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.mapping, &input), input); } Some(()) }
            5 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.overhead, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
} }

impl Message for k8s::NodeCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_heartbeat_time, input),
            4 => some_time(&mut self.last_transition_time, input),
            5 => some_unless_empty(&mut self.reason, input),
            6 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeConfigSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => message(self.config_map.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeConfigStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.assigned.get_or_insert_default(), input),
            2 => message(self.active.get_or_insert_default(), input),
            3 => message(self.last_known_good.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.error, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeDaemonEndpoints {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.kubelet_endpoint.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeFeatures {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.supplemental_groups_policy, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodePodPreemptionPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.disable_resize_preemption, &input), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::NodeRuntimeHandler {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.name, input),
            2 => message(self.features.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeRuntimeHandlerFeatures {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.recursive_read_only_mounts, input),
            2 => some(&mut self.user_namespaces, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.node_selector_terms, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSelectorRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => set(&mut self.operator, input),
            3 => push(room(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSelectorTerm {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.match_expressions, &input), input),
            2 => push_message(room(&mut self.match_fields, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.pod_cidr, input),
            2 => some_unless_empty(&mut self.external_id, input),
            3 => some_unless_empty(&mut self.provider_id, input),
            4 => some_unless_empty(&mut self.unschedulable, input),
            5 => push_message(room(&mut self.taints, &input), input),
            6 => message(self.config_source.get_or_insert_default(), input),
            7 => push(room(&mut self.pod_cidrs, &input), input),
            8 => { k8s_openapi::k8s_if_ge_1_37! { return message(self.pod_preemption_policy.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::NodePodPreemptionPolicy, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(6, Wire::Bytes(&[])), (7, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.capacity.get_or_insert_default(), input),
            2 => entry(self.allocatable.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.phase, input),
            4 => push_message(room(&mut self.conditions, &input), input),
            5 => push_message(room(&mut self.addresses, &input), input),
            6 => message(self.daemon_endpoints.get_or_insert_default(), input),
            7 => message(self.node_info.get_or_insert_default(), input),
            8 => push_message(room(&mut self.images, &input), input),
            9 => push(room(&mut self.volumes_in_use, &input), input),
            10 => push_message(room(&mut self.volumes_attached, &input), input),
            11 => message(self.config.get_or_insert_default(), input),
            12 => push_message(room(&mut self.runtime_handlers, &input), input),
            13 => message(self.features.get_or_insert_default(), input),
            14 => { k8s_openapi::k8s_if_ge_1_35! { return push(room(&mut self.declared_features, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSwapStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.capacity, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::NodeSystemInfo {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.machine_id, input),
            2 => set(&mut self.system_uuid, input),
            3 => set(&mut self.boot_id, input),
            4 => set(&mut self.kernel_version, input),
            5 => set(&mut self.os_image, input),
            6 => set(&mut self.container_runtime_version, input),
            7 => set(&mut self.kubelet_version, input),
            8 => set(&mut self.kube_proxy_version, input),
            9 => set(&mut self.operating_system, input),
            10 => set(&mut self.architecture, input),
            11 => message(self.swap.get_or_insert_default(), input),
            12 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut bool::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.running_in_user_namespace, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ObjectFieldSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.api_version, input),
            2 => set(&mut self.field_path, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.kind, input),
            2 => some_unless_empty(&mut self.namespace, input),
            3 => some_unless_empty(&mut self.name, input),
            4 => some_unless_empty(&mut self.uid, input),
            5 => some_unless_empty(&mut self.api_version, input),
            6 => some_unless_empty(&mut self.resource_version, input),
            7 => some_unless_empty(&mut self.field_path, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolume {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaim {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaimCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_probe_time, input),
            4 => some_time(&mut self.last_transition_time, input),
            5 => some_unless_empty(&mut self.reason, input),
            6 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaimSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.access_modes, &input), input),
            2 => message(self.resources.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.volume_name, input),
            4 => message(self.selector.get_or_insert_default(), input),
            5 => some(&mut self.storage_class_name, input),
            6 => some(&mut self.volume_mode, input),
            7 => message(self.data_source.get_or_insert_default(), input),
            8 => message(self.data_source_ref.get_or_insert_default(), input),
            9 => some(&mut self.volume_attributes_class_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.phase, input),
            2 => push(room(&mut self.access_modes, &input), input),
            3 => entry(self.capacity.get_or_insert_default(), input),
            4 => push_message(room(&mut self.conditions, &input), input),
            5 => entry(self.allocated_resources.get_or_insert_default(), input),
            7 => entry(self.allocated_resource_statuses.get_or_insert_default(), input),
            8 => some(&mut self.current_volume_attributes_class_name, input),
            9 => message(self.modify_volume_status.get_or_insert_default(), input),
            10 => { k8s_openapi::k8s_if_ge_1_37! { return message(self.health_status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::VolumeHealthStatus, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaimTemplate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.metadata.get_or_insert_default(), input),
            2 => message(&mut self.spec, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeClaimVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.claim_name, input),
            2 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.capacity.get_or_insert_default(), input),
            2 => inline(&mut PersistentVolumeSpec2(self), input),
            3 => push(room(&mut self.access_modes, &input), input),
            4 => message(self.claim_ref.get_or_insert_default(), input),
            5 => some_unless_empty(&mut self.persistent_volume_reclaim_policy, input),
            6 => some_unless_empty(&mut self.storage_class_name, input),
            7 => push(room(&mut self.mount_options, &input), input),
            8 => some(&mut self.volume_mode, input),
            9 => message(self.node_affinity.get_or_insert_default(), input),
            10 => some(&mut self.volume_attributes_class_name, input),
            _ => Some(()),
        }
    }
}

struct PersistentVolumeSpec2<'a>(&'a mut k8s::PersistentVolumeSpec);

impl Message for PersistentVolumeSpec2<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.gce_persistent_disk.get_or_insert_default(), input),
            2 => message(self.0.aws_elastic_block_store.get_or_insert_default(), input),
            3 => message(self.0.host_path.get_or_insert_default(), input),
            4 => message(self.0.glusterfs.get_or_insert_default(), input),
            5 => message(self.0.nfs.get_or_insert_default(), input),
            6 => message(self.0.rbd.get_or_insert_default(), input),
            7 => message(self.0.iscsi.get_or_insert_default(), input),
            8 => message(self.0.cinder.get_or_insert_default(), input),
            9 => message(self.0.cephfs.get_or_insert_default(), input),
            10 => message(self.0.fc.get_or_insert_default(), input),
            11 => message(self.0.flocker.get_or_insert_default(), input),
            12 => message(self.0.flex_volume.get_or_insert_default(), input),
            13 => message(self.0.azure_file.get_or_insert_default(), input),
            14 => message(self.0.vsphere_volume.get_or_insert_default(), input),
            15 => message(self.0.quobyte.get_or_insert_default(), input),
            16 => message(self.0.azure_disk.get_or_insert_default(), input),
            17 => message(self.0.photon_persistent_disk.get_or_insert_default(), input),
            18 => message(self.0.portworx_volume.get_or_insert_default(), input),
            19 => message(self.0.scale_io.get_or_insert_default(), input),
            20 => message(self.0.local.get_or_insert_default(), input),
            21 => message(self.0.storageos.get_or_insert_default(), input),
            22 => message(self.0.csi.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PersistentVolumeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.phase, input),
            2 => some_unless_empty(&mut self.message, input),
            3 => some_unless_empty(&mut self.reason, input),
            4 => some_time(&mut self.last_phase_transition_time, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PhotonPersistentDiskVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.pd_id, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Pod {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodAffinity {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.required_during_scheduling_ignored_during_execution, &input), input),
            2 => push_message(room(&mut self.preferred_during_scheduling_ignored_during_execution, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodAffinityTerm {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.label_selector.get_or_insert_default(), input),
            2 => push(room(&mut self.namespaces, &input), input),
            3 => set(&mut self.topology_key, input),
            4 => message(self.namespace_selector.get_or_insert_default(), input),
            5 => push(room(&mut self.match_label_keys, &input), input),
            6 => push(room(&mut self.mismatch_label_keys, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodAntiAffinity {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.required_during_scheduling_ignored_during_execution, &input), input),
            2 => push_message(room(&mut self.preferred_during_scheduling_ignored_during_execution, &input), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::PodCertificateProjection {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.signer_name, input),
            2 => set(&mut self.key_type, input),
            3 => some(&mut self.max_expiration_seconds, input),
            4 => some_unless_empty(&mut self.credential_bundle_path, input),
            5 => some_unless_empty(&mut self.key_path, input),
            6 => some_unless_empty(&mut self.certificate_chain_path, input),
            7 => { k8s_openapi::k8s_if_ge_1_35! { return entry(self.user_annotations.get_or_insert_default(), input); } Some(()) }
            8 => { k8s_openapi::k8s_if_ge_1_34! { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.user, input); } Some(()) }
            _ => Some(()),
        }
    }
} }

impl Message for k8s::PodCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_probe_time, input),
            4 => some_time(&mut self.last_transition_time, input),
            5 => some_unless_empty(&mut self.reason, input),
            6 => some_unless_empty(&mut self.message, input),
            7 => some_unless_empty(&mut self.observed_generation, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodDNSConfig {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.nameservers, &input), input),
            2 => push(room(&mut self.searches, &input), input),
            3 => push_message(room(&mut self.options, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodDNSConfigOption {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some(&mut self.value, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::PodExtendedResourceClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.request_mappings, &input), input),
            2 => set(&mut self.resource_claim_name, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::PodIP {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.ip, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodOS {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodReadinessGate {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.condition_type, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodResourceClaim {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            3 => some(&mut self.resource_claim_name, input),
            4 => some(&mut self.resource_claim_template_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodResourceClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some(&mut self.resource_claim_name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodSchedulingGate {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::PodSchedulingGroup {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.pod_group_name, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::PodSecurityContext {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.se_linux_options.get_or_insert_default(), input),
            2 => some(&mut self.run_as_user, input),
            3 => some(&mut self.run_as_non_root, input),
            4 => push(room(&mut self.supplemental_groups, &input), input),
            5 => some(&mut self.fs_group, input),
            6 => some(&mut self.run_as_group, input),
            7 => push_message(room(&mut self.sysctls, &input), input),
            8 => message(self.windows_options.get_or_insert_default(), input),
            9 => some(&mut self.fs_group_change_policy, input),
            10 => message(self.seccomp_profile.get_or_insert_default(), input),
            11 => message(self.app_armor_profile.get_or_insert_default(), input),
            12 => some(&mut self.supplemental_groups_policy, input),
            13 => some(&mut self.se_linux_change_policy, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.volumes, &input), input),
            2 => push_message(reserve(&mut self.containers, &input), input),
            3 => some_unless_empty(&mut self.restart_policy, input),
            4 => some(&mut self.termination_grace_period_seconds, input),
            5 => some(&mut self.active_deadline_seconds, input),
            6 => some_unless_empty(&mut self.dns_policy, input),
            7 => entry(self.node_selector.get_or_insert_default(), input),
            8 => some_unless_empty(&mut self.service_account_name, input),
            9 => some_unless_empty(&mut self.service_account, input),
            10 => some_unless_empty(&mut self.node_name, input),
            11 => some_unless_empty(&mut self.host_network, input),
            12 => some_unless_empty(&mut self.host_pid, input),
            13 => some_unless_empty(&mut self.host_ipc, input),
            14 => message(self.security_context.get_or_insert_default(), input),
            15 => push_message(room(&mut self.image_pull_secrets, &input), input),
            16 => some_unless_empty(&mut self.hostname, input),
            17 => some_unless_empty(&mut self.subdomain, input),
            18 => message(self.affinity.get_or_insert_default(), input),
            19 => some_unless_empty(&mut self.scheduler_name, input),
            20 => push_message(room(&mut self.init_containers, &input), input),
            21 => some(&mut self.automount_service_account_token, input),
            22 => push_message(room(&mut self.tolerations, &input), input),
            23 => push_message(room(&mut self.host_aliases, &input), input),
            24 => some_unless_empty(&mut self.priority_class_name, input),
            25 => some(&mut self.priority, input),
            26 => message(self.dns_config.get_or_insert_default(), input),
            27 => some(&mut self.share_process_namespace, input),
            28 => push_message(room(&mut self.readiness_gates, &input), input),
            29 => some(&mut self.runtime_class_name, input),
            30 => some(&mut self.enable_service_links, input),
            31 => some(&mut self.preemption_policy, input),
            32 => entry(self.overhead.get_or_insert_default(), input),
            33 => push_message(room(&mut self.topology_spread_constraints, &input), input),
            34 => push_message(room(&mut self.ephemeral_containers, &input), input),
            35 => some(&mut self.set_hostname_as_fqdn, input),
            36 => message(self.os.get_or_insert_default(), input),
            37 => some(&mut self.host_users, input),
            38 => push_message(room(&mut self.scheduling_gates, &input), input),
            39 => push_message(room(&mut self.resource_claims, &input), input),
            40 => message(self.resources.get_or_insert_default(), input),
            41 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.hostname_override, input); } Some(()) }
            43 => { k8s_openapi::k8s_if_ge_1_36! { return message(self.scheduling_group.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_35! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::PodSchedulingGroup, input); } Some(()) }
            44 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.eviction_responders, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.phase, input),
            2 => push_message(room(&mut self.conditions, &input), input),
            3 => some_unless_empty(&mut self.message, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.host_ip, input),
            6 => some_unless_empty(&mut self.pod_ip, input),
            7 => some_time(&mut self.start_time, input),
            8 => push_message(room(&mut self.container_statuses, &input), input),
            9 => some_unless_empty(&mut self.qos_class, input),
            10 => push_message(room(&mut self.init_container_statuses, &input), input),
            11 => some_unless_empty(&mut self.nominated_node_name, input),
            12 => push_message(room(&mut self.pod_ips, &input), input),
            13 => push_message(room(&mut self.ephemeral_container_statuses, &input), input),
            14 => some_unless_empty(&mut self.resize, input),
            15 => push_message(room(&mut self.resource_claim_statuses, &input), input),
            16 => push_message(room(&mut self.host_ips, &input), input),
            17 => some_unless_empty(&mut self.observed_generation, input),
            18 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.extended_resource_claim_status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::PodExtendedResourceClaimStatus, input); } Some(()) }
            19 => { k8s_openapi::k8s_if_ge_1_35! { return entry(self.allocated_resources.get_or_insert_default(), input); } Some(()) }
            20 => { k8s_openapi::k8s_if_ge_1_35! { return message(self.resources.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_34! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::ResourceRequirements, input); } Some(()) }
            21 => { k8s_openapi::k8s_if_ge_1_36! { return push_message(room(&mut self.node_allocatable_resource_claim_statuses, &input), input); } Some(()) }
            22 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.volume_health, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodTemplate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.template.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodTemplateSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.metadata.get_or_insert_default(), input),
            2 => message(self.spec.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PodVolumeHealth {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => push_message(room(&mut self.health_conditions, &input), input),
            3 => some_time(&mut self.last_transition_time, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::PortStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.port, input),
            2 => set(&mut self.protocol, input),
            3 => some(&mut self.error, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PortworxVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_id, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PreferredSchedulingTerm {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.weight, input),
            2 => message(&mut self.preference, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Probe {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut Probe1(self), input),
            2 => some_unless_empty(&mut self.initial_delay_seconds, input),
            3 => some_unless_empty(&mut self.timeout_seconds, input),
            4 => some_unless_empty(&mut self.period_seconds, input),
            5 => some_unless_empty(&mut self.success_threshold, input),
            6 => some_unless_empty(&mut self.failure_threshold, input),
            7 => some(&mut self.termination_grace_period_seconds, input),
            _ => Some(()),
        }
    }
}

struct Probe1<'a>(&'a mut k8s::Probe);

impl Message for Probe1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.exec.get_or_insert_default(), input),
            2 => message(self.0.http_get.get_or_insert_default(), input),
            3 => message(self.0.tcp_socket.get_or_insert_default(), input),
            4 => message(self.0.grpc.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ProjectedVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.sources, &input), input),
            2 => some(&mut self.default_mode, input),
            3 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.default_user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::QuobyteVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.registry, input),
            2 => set(&mut self.volume, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => some_unless_empty(&mut self.user, input),
            5 => some_unless_empty(&mut self.group, input),
            6 => some_unless_empty(&mut self.tenant, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RBDPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.monitors, &input), input),
            2 => set(&mut self.image, input),
            3 => some_unless_empty(&mut self.fs_type, input),
            4 => some_unless_empty(&mut self.pool, input),
            5 => some_unless_empty(&mut self.user, input),
            6 => some_unless_empty(&mut self.keyring, input),
            7 => message(self.secret_ref.get_or_insert_default(), input),
            8 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::RBDVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(reserve(&mut self.monitors, &input), input),
            2 => set(&mut self.image, input),
            3 => some_unless_empty(&mut self.fs_type, input),
            4 => some_unless_empty(&mut self.pool, input),
            5 => some_unless_empty(&mut self.user, input),
            6 => some_unless_empty(&mut self.keyring, input),
            7 => message(self.secret_ref.get_or_insert_default(), input),
            8 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicationController {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicationControllerCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicationControllerSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.replicas, input),
            2 => entry(self.selector.get_or_insert_default(), input),
            3 => message(self.template.get_or_insert_default(), input),
            4 => some_unless_empty(&mut self.min_ready_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ReplicationControllerStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.replicas, input),
            2 => some_unless_empty(&mut self.fully_labeled_replicas, input),
            3 => some_unless_empty(&mut self.observed_generation, input),
            4 => some_unless_empty(&mut self.ready_replicas, input),
            5 => some_unless_empty(&mut self.available_replicas, input),
            6 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaim {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some_unless_empty(&mut self.request, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceFieldSelector {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.container_name, input),
            2 => set(&mut self.resource, input),
            3 => some_once(&mut self.divisor, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceHealth {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.resource_id, input),
            2 => some_unless_empty(&mut self.health, input),
            6 => { k8s_openapi::k8s_if_le_1_35! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_36! { return some(&mut self.message, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceQuota {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceQuotaSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.hard.get_or_insert_default(), input),
            2 => push(room(&mut self.scopes, &input), input),
            3 => message(self.scope_selector.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceQuotaStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.hard.get_or_insert_default(), input),
            2 => entry(self.used.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceRequirements {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.limits.get_or_insert_default(), input),
            2 => entry(self.requests.get_or_insert_default(), input),
            3 => push_message(room(&mut self.claims, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => push_message(room(&mut self.resources, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SELinuxOptions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.user, input),
            2 => some_unless_empty(&mut self.role, input),
            3 => some_unless_empty(&mut self.type_, input),
            4 => some_unless_empty(&mut self.level, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ScaleIOPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.gateway, input),
            2 => set(&mut self.system, input),
            3 => message(&mut self.secret_ref, input),
            4 => some_unless_empty(&mut self.ssl_enabled, input),
            5 => some_unless_empty(&mut self.protection_domain, input),
            6 => some_unless_empty(&mut self.storage_pool, input),
            7 => some_unless_empty(&mut self.storage_mode, input),
            8 => some_unless_empty(&mut self.volume_name, input),
            9 => some_unless_empty(&mut self.fs_type, input),
            10 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ScaleIOVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.gateway, input),
            2 => set(&mut self.system, input),
            3 => message(&mut self.secret_ref, input),
            4 => some_unless_empty(&mut self.ssl_enabled, input),
            5 => some_unless_empty(&mut self.protection_domain, input),
            6 => some_unless_empty(&mut self.storage_pool, input),
            7 => some_unless_empty(&mut self.storage_mode, input),
            8 => some_unless_empty(&mut self.volume_name, input),
            9 => some_unless_empty(&mut self.fs_type, input),
            10 => some_unless_empty(&mut self.read_only, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ScopeSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.match_expressions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ScopedResourceSelectorRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.scope_name, input),
            2 => set(&mut self.operator, input),
            3 => push(room(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SeccompProfile {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => some(&mut self.localhost_profile, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Secret {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => entry(self.data.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.type_, input),
            4 => entry(self.string_data.get_or_insert_default(), input),
            5 => some(&mut self.immutable, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecretEnvSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut SecretEnvSource1(self), input),
            2 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct SecretEnvSource1<'a>(&'a mut k8s::SecretEnvSource);

impl Message for SecretEnvSource1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecretKeySelector {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut SecretKeySelector1(self), input),
            2 => set(&mut self.key, input),
            3 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct SecretKeySelector1<'a>(&'a mut k8s::SecretKeySelector);

impl Message for SecretKeySelector1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecretProjection {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut SecretProjection1(self), input),
            2 => push_message(room(&mut self.items, &input), input),
            4 => some(&mut self.optional, input),
            _ => Some(()),
        }
    }
}

struct SecretProjection1<'a>(&'a mut k8s::SecretProjection);

impl Message for SecretProjection1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.0.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecretReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecretVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.secret_name, input),
            2 => push_message(room(&mut self.items, &input), input),
            3 => some(&mut self.default_mode, input),
            4 => some(&mut self.optional, input),
            5 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.default_user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::SecurityContext {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.capabilities.get_or_insert_default(), input),
            2 => some(&mut self.privileged, input),
            3 => message(self.se_linux_options.get_or_insert_default(), input),
            4 => some(&mut self.run_as_user, input),
            5 => some(&mut self.run_as_non_root, input),
            6 => some(&mut self.read_only_root_filesystem, input),
            7 => some(&mut self.allow_privilege_escalation, input),
            8 => some(&mut self.run_as_group, input),
            9 => some(&mut self.proc_mount, input),
            10 => message(self.windows_options.get_or_insert_default(), input),
            11 => message(self.seccomp_profile.get_or_insert_default(), input),
            12 => message(self.app_armor_profile.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Service {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceAccount {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => push_message(room(&mut self.secrets, &input), input),
            3 => push_message(room(&mut self.image_pull_secrets, &input), input),
            4 => some(&mut self.automount_service_account_token, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceAccountTokenProjection {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.audience, input),
            2 => some(&mut self.expiration_seconds, input),
            3 => set(&mut self.path, input),
            4 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.user, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServicePort {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(4, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.name, input),
            2 => some_unless_empty(&mut self.protocol, input),
            3 => set(&mut self.port, input),
            4 => some_once(&mut self.target_port, input),
            5 => some_unless_empty(&mut self.node_port, input),
            6 => some(&mut self.app_protocol, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.ports, &input), input),
            2 => entry(self.selector.get_or_insert_default(), input),
            3 => some_unless_empty(&mut self.cluster_ip, input),
            4 => some_unless_empty(&mut self.type_, input),
            5 => push(room(&mut self.external_ips, &input), input),
            7 => some_unless_empty(&mut self.session_affinity, input),
            8 => some_unless_empty(&mut self.load_balancer_ip, input),
            9 => push(room(&mut self.load_balancer_source_ranges, &input), input),
            10 => some_unless_empty(&mut self.external_name, input),
            11 => some_unless_empty(&mut self.external_traffic_policy, input),
            12 => some_unless_empty(&mut self.health_check_node_port, input),
            13 => some_unless_empty(&mut self.publish_not_ready_addresses, input),
            14 => message(self.session_affinity_config.get_or_insert_default(), input),
            17 => some(&mut self.ip_family_policy, input),
            18 => push(room(&mut self.cluster_ips, &input), input),
            19 => push(room(&mut self.ip_families, &input), input),
            20 => some(&mut self.allocate_load_balancer_node_ports, input),
            21 => some(&mut self.load_balancer_class, input),
            22 => some(&mut self.internal_traffic_policy, input),
            23 => some(&mut self.traffic_distribution, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.load_balancer.get_or_insert_default(), input),
            2 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SessionAffinityConfig {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.client_ip.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SleepAction {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageOSPersistentVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.volume_name, input),
            2 => some_unless_empty(&mut self.volume_namespace, input),
            3 => some_unless_empty(&mut self.fs_type, input),
            4 => some_unless_empty(&mut self.read_only, input),
            5 => message(self.secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::StorageOSVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.volume_name, input),
            2 => some_unless_empty(&mut self.volume_namespace, input),
            3 => some_unless_empty(&mut self.fs_type, input),
            4 => some_unless_empty(&mut self.read_only, input),
            5 => message(self.secret_ref.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Sysctl {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.value, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TCPSocketAction {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set_once(&mut self.port, input),
            2 => some_unless_empty(&mut self.host, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Taint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => some_unless_empty(&mut self.value, input),
            3 => set(&mut self.effect, input),
            4 => some_time(&mut self.time_added, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Toleration {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.key, input),
            2 => some_unless_empty(&mut self.operator, input),
            3 => some_unless_empty(&mut self.value, input),
            4 => some_unless_empty(&mut self.effect, input),
            5 => some(&mut self.toleration_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TopologySelectorLabelRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => push(reserve(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TopologySelectorTerm {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.match_label_expressions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TopologySpreadConstraint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.max_skew, input),
            2 => set(&mut self.topology_key, input),
            3 => set(&mut self.when_unsatisfiable, input),
            4 => message(self.label_selector.get_or_insert_default(), input),
            5 => some(&mut self.min_domains, input),
            6 => some(&mut self.node_affinity_policy, input),
            7 => some(&mut self.node_taints_policy, input),
            8 => push(room(&mut self.match_label_keys, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TypedLocalObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.api_group, input),
            2 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::TypedObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.api_group, input),
            2 => set(&mut self.kind, input),
            3 => set(&mut self.name, input),
            4 => some(&mut self.namespace, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Volume {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => inline(&mut Volume2(self), input),
            _ => Some(()),
        }
    }
}

struct Volume2<'a>(&'a mut k8s::Volume);

impl Message for Volume2<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.host_path.get_or_insert_default(), input),
            2 => message(self.0.empty_dir.get_or_insert_default(), input),
            3 => message(self.0.gce_persistent_disk.get_or_insert_default(), input),
            4 => message(self.0.aws_elastic_block_store.get_or_insert_default(), input),
            5 => message(self.0.git_repo.get_or_insert_default(), input),
            6 => message(self.0.secret.get_or_insert_default(), input),
            7 => message(self.0.nfs.get_or_insert_default(), input),
            8 => message(self.0.iscsi.get_or_insert_default(), input),
            9 => message(self.0.glusterfs.get_or_insert_default(), input),
            10 => message(self.0.persistent_volume_claim.get_or_insert_default(), input),
            11 => message(self.0.rbd.get_or_insert_default(), input),
            12 => message(self.0.flex_volume.get_or_insert_default(), input),
            13 => message(self.0.cinder.get_or_insert_default(), input),
            14 => message(self.0.cephfs.get_or_insert_default(), input),
            15 => message(self.0.flocker.get_or_insert_default(), input),
            16 => message(self.0.downward_api.get_or_insert_default(), input),
            17 => message(self.0.fc.get_or_insert_default(), input),
            18 => message(self.0.azure_file.get_or_insert_default(), input),
            19 => message(self.0.config_map.get_or_insert_default(), input),
            20 => message(self.0.vsphere_volume.get_or_insert_default(), input),
            21 => message(self.0.quobyte.get_or_insert_default(), input),
            22 => message(self.0.azure_disk.get_or_insert_default(), input),
            23 => message(self.0.photon_persistent_disk.get_or_insert_default(), input),
            24 => message(self.0.portworx_volume.get_or_insert_default(), input),
            25 => message(self.0.scale_io.get_or_insert_default(), input),
            26 => message(self.0.projected.get_or_insert_default(), input),
            27 => message(self.0.storageos.get_or_insert_default(), input),
            28 => message(self.0.csi.get_or_insert_default(), input),
            29 => message(self.0.ephemeral.get_or_insert_default(), input),
            30 => message(self.0.image.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeDevice {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.device_path, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::VolumeHealthCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.status, input),
            2 => set(&mut self.reason, input),
            3 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::VolumeHealthStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.health_conditions, &input), input),
            2 => some_time(&mut self.last_transition_time, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::VolumeMount {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => some_unless_empty(&mut self.read_only, input),
            3 => set(&mut self.mount_path, input),
            4 => some_unless_empty(&mut self.sub_path, input),
            5 => some(&mut self.mount_propagation, input),
            6 => some_unless_empty(&mut self.sub_path_expr, input),
            7 => some(&mut self.recursive_read_only, input),
            8 => { k8s_openapi::k8s_if_ge_1_37! { return push(room(&mut self.bind_mount_options, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeMountStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.mount_path, input),
            3 => some_unless_empty(&mut self.read_only, input),
            4 => some(&mut self.recursive_read_only, input),
            5 => { k8s_openapi::k8s_if_ge_1_36! { return message(self.volume_status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_35! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::VolumeStatus, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeNodeAffinity {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.required.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeProjection {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.secret.get_or_insert_default(), input),
            2 => message(self.downward_api.get_or_insert_default(), input),
            3 => message(self.config_map.get_or_insert_default(), input),
            4 => message(self.service_account_token.get_or_insert_default(), input),
            5 => message(self.cluster_trust_bundle.get_or_insert_default(), input),
            6 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.pod_certificate.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::core_v1::PodCertificateProjection, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::VolumeResourceRequirements {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.limits.get_or_insert_default(), input),
            2 => entry(self.requests.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::VolumeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.image.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::VsphereVirtualDiskVolumeSource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.volume_path, input),
            2 => some_unless_empty(&mut self.fs_type, input),
            3 => some_unless_empty(&mut self.storage_policy_name, input),
            4 => some_unless_empty(&mut self.storage_policy_id, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::WeightedPodAffinityTerm {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.weight, input),
            2 => message(&mut self.pod_affinity_term, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::WindowsSecurityContextOptions {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.gmsa_credential_spec_name, input),
            2 => some(&mut self.gmsa_credential_spec, input),
            3 => some(&mut self.run_as_user_name, input),
            4 => some(&mut self.host_process, input),
            _ => Some(()),
        }
    }
}
