//! The messages of `k8s.io.api.core.v1`.

use super::*;

pub(crate) static AWSElasticBlockStoreVolumeSource: Message = message("k8s.io.api.core.v1.AWSElasticBlockStoreVolumeSource", &[
    one(1, "volumeID", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "partition", Int32, OmitEmpty),
    one(4, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static Affinity: Message = message("k8s.io.api.core.v1.Affinity", &[
    one(1, "nodeAffinity", Msg(&core_v1::NodeAffinity), Optional),
    one(2, "podAffinity", Msg(&core_v1::PodAffinity), Optional),
    one(3, "podAntiAffinity", Msg(&core_v1::PodAntiAffinity), Optional),
]);

pub(crate) static AppArmorProfile: Message = message("k8s.io.api.core.v1.AppArmorProfile", &[
    one(1, "type", String, Required),
    one(2, "localhostProfile", String, Optional),
]);

pub(crate) static AttachedVolume: Message = message("k8s.io.api.core.v1.AttachedVolume", &[
    one(1, "name", String, Required),
    one(2, "devicePath", String, Required),
]);

pub(crate) static AvoidPods: Message = message("k8s.io.api.core.v1.AvoidPods", &[
    many(1, "preferAvoidPods", Msg(&core_v1::PreferAvoidPodsEntry), OmitEmpty),
]);

pub(crate) static AzureDiskVolumeSource: Message = message("k8s.io.api.core.v1.AzureDiskVolumeSource", &[
    one(1, "diskName", String, Required),
    one(2, "diskURI", String, Required),
    one(3, "cachingMode", String, Optional),
    one(4, "fsType", String, Optional),
    one(5, "readOnly", Bool, Optional),
    one(6, "kind", String, Optional),
]);

pub(crate) static AzureFilePersistentVolumeSource: Message = message("k8s.io.api.core.v1.AzureFilePersistentVolumeSource", &[
    one(1, "secretName", String, Required),
    one(2, "shareName", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "secretNamespace", String, Nullable),
]);

pub(crate) static AzureFileVolumeSource: Message = message("k8s.io.api.core.v1.AzureFileVolumeSource", &[
    one(1, "secretName", String, Required),
    one(2, "shareName", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static Binding: Message = object("k8s.io.api.core.v1.Binding", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "target", Msg(&core_v1::ObjectReference), Required),
]);

pub(crate) static CSIPersistentVolumeSource: Message = message("k8s.io.api.core.v1.CSIPersistentVolumeSource", &[
    one(1, "driver", String, Required),
    one(2, "volumeHandle", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "fsType", String, OmitEmpty),
    map(5, "volumeAttributes", String, OmitEmpty),
    one(6, "controllerPublishSecretRef", Msg(&core_v1::SecretReference), Optional),
    one(7, "nodeStageSecretRef", Msg(&core_v1::SecretReference), Optional),
    one(8, "nodePublishSecretRef", Msg(&core_v1::SecretReference), Optional),
    one(9, "controllerExpandSecretRef", Msg(&core_v1::SecretReference), Optional),
    one(10, "nodeExpandSecretRef", Msg(&core_v1::SecretReference), Optional),
]);

pub(crate) static CSIVolumeSource: Message = message("k8s.io.api.core.v1.CSIVolumeSource", &[
    one(1, "driver", String, Required),
    one(2, "readOnly", Bool, Optional),
    one(3, "fsType", String, Optional),
    map(4, "volumeAttributes", String, OmitEmpty),
    one(5, "nodePublishSecretRef", Msg(&core_v1::LocalObjectReference), Optional),
]);

pub(crate) static Capabilities: Message = message("k8s.io.api.core.v1.Capabilities", &[
    many(1, "add", String, OmitEmpty),
    many(2, "drop", String, OmitEmpty),
]);

pub(crate) static CephFSPersistentVolumeSource: Message = message("k8s.io.api.core.v1.CephFSPersistentVolumeSource", &[
    many(1, "monitors", String, Required),
    one(2, "path", String, OmitEmpty),
    one(3, "user", String, OmitEmpty),
    one(4, "secretFile", String, OmitEmpty),
    one(5, "secretRef", Msg(&core_v1::SecretReference), Optional),
    one(6, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static CephFSVolumeSource: Message = message("k8s.io.api.core.v1.CephFSVolumeSource", &[
    many(1, "monitors", String, Required),
    one(2, "path", String, OmitEmpty),
    one(3, "user", String, OmitEmpty),
    one(4, "secretFile", String, OmitEmpty),
    one(5, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
    one(6, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static CinderPersistentVolumeSource: Message = message("k8s.io.api.core.v1.CinderPersistentVolumeSource", &[
    one(1, "volumeID", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "secretRef", Msg(&core_v1::SecretReference), Optional),
]);

pub(crate) static CinderVolumeSource: Message = message("k8s.io.api.core.v1.CinderVolumeSource", &[
    one(1, "volumeID", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
]);

pub(crate) static ClientIPConfig: Message = message("k8s.io.api.core.v1.ClientIPConfig", &[
    one(1, "timeoutSeconds", Int32, Optional),
]);

pub(crate) static ClusterTrustBundleProjection: Message = message("k8s.io.api.core.v1.ClusterTrustBundleProjection", &[
    one(1, "name", String, Optional),
    one(2, "signerName", String, Optional),
    one(3, "labelSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(4, "path", String, Required),
    one(5, "optional", Bool, Optional),
    one(6, "user", Int64, Optional),
]);

pub(crate) static ComponentCondition: Message = message("k8s.io.api.core.v1.ComponentCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "message", String, OmitEmpty),
    one(4, "error", String, OmitEmpty),
]);

pub(crate) static ComponentStatus: Message = object("k8s.io.api.core.v1.ComponentStatus", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "conditions", Msg(&core_v1::ComponentCondition), OmitEmpty),
]);

pub(crate) static ComponentStatusList: Message = object("k8s.io.api.core.v1.ComponentStatusList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::ComponentStatus), Items),
]);

pub(crate) static ConfigMap: Message = object("k8s.io.api.core.v1.ConfigMap", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    map(2, "data", String, OmitEmpty),
    map(3, "binaryData", Bytes, OmitEmpty),
    one(4, "immutable", Bool, Optional),
]);

pub(crate) static ConfigMapEnvSource: Message = message("k8s.io.api.core.v1.ConfigMapEnvSource", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    one(2, "optional", Bool, Optional),
]);

pub(crate) static ConfigMapKeySelector: Message = message("k8s.io.api.core.v1.ConfigMapKeySelector", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    one(2, "key", String, Required),
    one(3, "optional", Bool, Optional),
]);

pub(crate) static ConfigMapList: Message = object("k8s.io.api.core.v1.ConfigMapList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::ConfigMap), Items),
]);

pub(crate) static ConfigMapNodeConfigSource: Message = message("k8s.io.api.core.v1.ConfigMapNodeConfigSource", &[
    one(1, "namespace", String, Required),
    one(2, "name", String, Required),
    one(3, "uid", String, OmitEmpty),
    one(4, "resourceVersion", String, OmitEmpty),
    one(5, "kubeletConfigKey", String, Required),
]);

pub(crate) static ConfigMapProjection: Message = message("k8s.io.api.core.v1.ConfigMapProjection", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    many(2, "items", Msg(&core_v1::KeyToPath), OmitEmpty),
    one(4, "optional", Bool, Optional),
]);

pub(crate) static ConfigMapVolumeSource: Message = message("k8s.io.api.core.v1.ConfigMapVolumeSource", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    many(2, "items", Msg(&core_v1::KeyToPath), OmitEmpty),
    one(3, "defaultMode", Int32, Optional),
    one(4, "optional", Bool, Optional),
    one(5, "defaultUser", Int64, Optional),
]);

pub(crate) static Container: Message = message("k8s.io.api.core.v1.Container", &[
    one(1, "name", String, Required),
    one(2, "image", String, OmitEmpty),
    many(3, "command", String, OmitEmpty),
    many(4, "args", String, OmitEmpty),
    one(5, "workingDir", String, OmitEmpty),
    many(6, "ports", Msg(&core_v1::ContainerPort), OmitEmpty),
    many(7, "env", Msg(&core_v1::EnvVar), OmitEmpty),
    one(8, "resources", Msg(&core_v1::ResourceRequirements), OmitEmpty),
    many(9, "volumeMounts", Msg(&core_v1::VolumeMount), OmitEmpty),
    one(10, "livenessProbe", Msg(&core_v1::Probe), Optional),
    one(11, "readinessProbe", Msg(&core_v1::Probe), Optional),
    one(12, "lifecycle", Msg(&core_v1::Lifecycle), Optional),
    one(13, "terminationMessagePath", String, OmitEmpty),
    one(14, "imagePullPolicy", String, OmitEmpty),
    one(15, "securityContext", Msg(&core_v1::SecurityContext), Optional),
    one(16, "stdin", Bool, OmitEmpty),
    one(17, "stdinOnce", Bool, OmitEmpty),
    one(18, "tty", Bool, OmitEmpty),
    many(19, "envFrom", Msg(&core_v1::EnvFromSource), OmitEmpty),
    one(20, "terminationMessagePolicy", String, OmitEmpty),
    many(21, "volumeDevices", Msg(&core_v1::VolumeDevice), OmitEmpty),
    one(22, "startupProbe", Msg(&core_v1::Probe), Optional),
    many(23, "resizePolicy", Msg(&core_v1::ContainerResizePolicy), OmitEmpty),
    one(24, "restartPolicy", String, Optional),
    many(25, "restartPolicyRules", Msg(&core_v1::ContainerRestartRule), OmitEmpty),
]);

pub(crate) static ContainerExtendedResourceRequest: Message = message("k8s.io.api.core.v1.ContainerExtendedResourceRequest", &[
    one(1, "containerName", String, Required),
    one(2, "resourceName", String, Required),
    one(3, "requestName", String, Required),
]);

pub(crate) static ContainerImage: Message = message("k8s.io.api.core.v1.ContainerImage", &[
    many(1, "names", String, Required),
    one(2, "sizeBytes", Int64, OmitEmpty),
]);

pub(crate) static ContainerPort: Message = message("k8s.io.api.core.v1.ContainerPort", &[
    one(1, "name", String, OmitEmpty),
    one(2, "hostPort", Int32, OmitEmpty),
    one(3, "containerPort", Int32, Required),
    one(4, "protocol", String, OmitEmpty),
    one(5, "hostIP", String, OmitEmpty),
]);

pub(crate) static ContainerResizePolicy: Message = message("k8s.io.api.core.v1.ContainerResizePolicy", &[
    one(1, "resourceName", String, Required),
    one(2, "restartPolicy", String, Required),
]);

pub(crate) static ContainerRestartRule: Message = message("k8s.io.api.core.v1.ContainerRestartRule", &[
    one(1, "action", String, OmitEmpty),
    one(2, "exitCodes", Msg(&core_v1::ContainerRestartRuleOnExitCodes), Optional),
]);

pub(crate) static ContainerRestartRuleOnExitCodes: Message = message("k8s.io.api.core.v1.ContainerRestartRuleOnExitCodes", &[
    one(1, "operator", String, OmitEmpty),
    many(2, "values", Int32, OmitEmpty),
]);

pub(crate) static ContainerState: Message = message("k8s.io.api.core.v1.ContainerState", &[
    one(1, "waiting", Msg(&core_v1::ContainerStateWaiting), Optional),
    one(2, "running", Msg(&core_v1::ContainerStateRunning), Optional),
    one(3, "terminated", Msg(&core_v1::ContainerStateTerminated), Optional),
]);

pub(crate) static ContainerStateRunning: Message = message("k8s.io.api.core.v1.ContainerStateRunning", &[
    one(1, "startedAt", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static ContainerStateTerminated: Message = message("k8s.io.api.core.v1.ContainerStateTerminated", &[
    one(1, "exitCode", Int32, Required),
    one(2, "signal", Int32, OmitEmpty),
    one(3, "reason", String, OmitEmpty),
    one(4, "message", String, OmitEmpty),
    one(5, "startedAt", Msg(&meta_v1::Time), OmitEmpty),
    one(6, "finishedAt", Msg(&meta_v1::Time), OmitEmpty),
    one(7, "containerID", String, OmitEmpty),
]);

pub(crate) static ContainerStateWaiting: Message = message("k8s.io.api.core.v1.ContainerStateWaiting", &[
    one(1, "reason", String, OmitEmpty),
    one(2, "message", String, OmitEmpty),
]);

pub(crate) static ContainerStatus: Message = message("k8s.io.api.core.v1.ContainerStatus", &[
    one(1, "name", String, Required),
    one(2, "state", Msg(&core_v1::ContainerState), OmitEmpty),
    one(3, "lastState", Msg(&core_v1::ContainerState), OmitEmpty),
    one(4, "ready", Bool, Required),
    one(5, "restartCount", Int32, Required),
    one(6, "image", String, Required),
    one(7, "imageID", String, Required),
    one(8, "containerID", String, OmitEmpty),
    one(9, "started", Bool, Optional),
    map(10, "allocatedResources", Msg(&api_resource::Quantity), OmitEmpty),
    one(11, "resources", Msg(&core_v1::ResourceRequirements), Optional),
    many(12, "volumeMounts", Msg(&core_v1::VolumeMountStatus), OmitEmpty),
    one(13, "user", Msg(&core_v1::ContainerUser), Optional),
    many(14, "allocatedResourcesStatus", Msg(&core_v1::ResourceStatus), OmitEmpty),
    one(15, "stopSignal", String, Optional),
]);

pub(crate) static ContainerUser: Message = message("k8s.io.api.core.v1.ContainerUser", &[
    one(1, "linux", Msg(&core_v1::LinuxContainerUser), Optional),
]);

pub(crate) static DaemonEndpoint: Message = message("k8s.io.api.core.v1.DaemonEndpoint", &[
    one(1, "Port", Int32, Required),
]);

pub(crate) static DownwardAPIProjection: Message = message("k8s.io.api.core.v1.DownwardAPIProjection", &[
    many(1, "items", Msg(&core_v1::DownwardAPIVolumeFile), OmitEmpty),
]);

pub(crate) static DownwardAPIVolumeFile: Message = message("k8s.io.api.core.v1.DownwardAPIVolumeFile", &[
    one(1, "path", String, Required),
    one(2, "fieldRef", Msg(&core_v1::ObjectFieldSelector), Optional),
    one(3, "resourceFieldRef", Msg(&core_v1::ResourceFieldSelector), Optional),
    one(4, "mode", Int32, Optional),
    one(5, "user", Int64, Optional),
]);

pub(crate) static DownwardAPIVolumeSource: Message = message("k8s.io.api.core.v1.DownwardAPIVolumeSource", &[
    many(1, "items", Msg(&core_v1::DownwardAPIVolumeFile), OmitEmpty),
    one(2, "defaultMode", Int32, Optional),
    one(3, "defaultUser", Int64, Optional),
]);

pub(crate) static EmptyDirVolumeSource: Message = message("k8s.io.api.core.v1.EmptyDirVolumeSource", &[
    one(1, "medium", String, OmitEmpty),
    one(2, "sizeLimit", Msg(&api_resource::Quantity), Optional),
    one(3, "mode", Int32, Optional),
]);

pub(crate) static EndpointAddress: Message = message("k8s.io.api.core.v1.EndpointAddress", &[
    one(1, "ip", String, Required),
    one(2, "targetRef", Msg(&core_v1::ObjectReference), Optional),
    one(3, "hostname", String, OmitEmpty),
    one(4, "nodeName", String, Optional),
]);

pub(crate) static EndpointPort: Message = message("k8s.io.api.core.v1.EndpointPort", &[
    one(1, "name", String, OmitEmpty),
    one(2, "port", Int32, Required),
    one(3, "protocol", String, OmitEmpty),
    one(4, "appProtocol", String, Optional),
]);

pub(crate) static EndpointSubset: Message = message("k8s.io.api.core.v1.EndpointSubset", &[
    many(1, "addresses", Msg(&core_v1::EndpointAddress), OmitEmpty),
    many(2, "notReadyAddresses", Msg(&core_v1::EndpointAddress), OmitEmpty),
    many(3, "ports", Msg(&core_v1::EndpointPort), OmitEmpty),
]);

pub(crate) static Endpoints: Message = object("k8s.io.api.core.v1.Endpoints", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "subsets", Msg(&core_v1::EndpointSubset), OmitEmpty),
]);

pub(crate) static EndpointsList: Message = object("k8s.io.api.core.v1.EndpointsList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Endpoints), Items),
]);

pub(crate) static EnvFromSource: Message = message("k8s.io.api.core.v1.EnvFromSource", &[
    one(1, "prefix", String, OmitEmpty),
    one(2, "configMapRef", Msg(&core_v1::ConfigMapEnvSource), Optional),
    one(3, "secretRef", Msg(&core_v1::SecretEnvSource), Optional),
]);

pub(crate) static EnvVar: Message = message("k8s.io.api.core.v1.EnvVar", &[
    one(1, "name", String, Required),
    one(2, "value", String, OmitEmpty),
    one(3, "valueFrom", Msg(&core_v1::EnvVarSource), Optional),
]);

pub(crate) static EnvVarSource: Message = message("k8s.io.api.core.v1.EnvVarSource", &[
    one(1, "fieldRef", Msg(&core_v1::ObjectFieldSelector), Optional),
    one(2, "resourceFieldRef", Msg(&core_v1::ResourceFieldSelector), Optional),
    one(3, "configMapKeyRef", Msg(&core_v1::ConfigMapKeySelector), Optional),
    one(4, "secretKeyRef", Msg(&core_v1::SecretKeySelector), Optional),
    one(5, "fileKeyRef", Msg(&core_v1::FileKeySelector), Optional),
]);

pub(crate) static EphemeralContainer: Message = message("k8s.io.api.core.v1.EphemeralContainer", &[
    one(1, "", Msg(&core_v1::EphemeralContainerCommon), Inline),
    one(2, "targetContainerName", String, OmitEmpty),
]);

pub(crate) static EphemeralContainerCommon: Message = message("k8s.io.api.core.v1.EphemeralContainerCommon", &[
    one(1, "name", String, Required),
    one(2, "image", String, OmitEmpty),
    many(3, "command", String, OmitEmpty),
    many(4, "args", String, OmitEmpty),
    one(5, "workingDir", String, OmitEmpty),
    many(6, "ports", Msg(&core_v1::ContainerPort), OmitEmpty),
    many(7, "env", Msg(&core_v1::EnvVar), OmitEmpty),
    one(8, "resources", Msg(&core_v1::ResourceRequirements), OmitEmpty),
    many(9, "volumeMounts", Msg(&core_v1::VolumeMount), OmitEmpty),
    one(10, "livenessProbe", Msg(&core_v1::Probe), Optional),
    one(11, "readinessProbe", Msg(&core_v1::Probe), Optional),
    one(12, "lifecycle", Msg(&core_v1::Lifecycle), Optional),
    one(13, "terminationMessagePath", String, OmitEmpty),
    one(14, "imagePullPolicy", String, OmitEmpty),
    one(15, "securityContext", Msg(&core_v1::SecurityContext), Optional),
    one(16, "stdin", Bool, OmitEmpty),
    one(17, "stdinOnce", Bool, OmitEmpty),
    one(18, "tty", Bool, OmitEmpty),
    many(19, "envFrom", Msg(&core_v1::EnvFromSource), OmitEmpty),
    one(20, "terminationMessagePolicy", String, OmitEmpty),
    many(21, "volumeDevices", Msg(&core_v1::VolumeDevice), OmitEmpty),
    one(22, "startupProbe", Msg(&core_v1::Probe), Optional),
    many(23, "resizePolicy", Msg(&core_v1::ContainerResizePolicy), OmitEmpty),
    one(24, "restartPolicy", String, Optional),
    many(25, "restartPolicyRules", Msg(&core_v1::ContainerRestartRule), OmitEmpty),
]);

pub(crate) static EphemeralVolumeSource: Message = message("k8s.io.api.core.v1.EphemeralVolumeSource", &[
    one(1, "volumeClaimTemplate", Msg(&core_v1::PersistentVolumeClaimTemplate), Optional),
]);

pub(crate) static Event: Message = object("k8s.io.api.core.v1.Event", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), Required),
    one(2, "involvedObject", Msg(&core_v1::ObjectReference), Required),
    one(3, "reason", String, OmitEmpty),
    one(4, "message", String, OmitEmpty),
    one(5, "source", Msg(&core_v1::EventSource), OmitEmpty),
    one(6, "firstTimestamp", Msg(&meta_v1::Time), OmitEmpty),
    one(7, "lastTimestamp", Msg(&meta_v1::Time), OmitEmpty),
    one(8, "count", Int32, OmitEmpty),
    one(9, "type", String, OmitEmpty),
    one(10, "eventTime", Msg(&meta_v1::MicroTime), OmitEmpty),
    one(11, "series", Msg(&core_v1::EventSeries), Optional),
    one(12, "action", String, OmitEmpty),
    one(13, "related", Msg(&core_v1::ObjectReference), Optional),
    one(14, "reportingComponent", String, Required),
    one(15, "reportingInstance", String, Required),
]);

pub(crate) static EventList: Message = object("k8s.io.api.core.v1.EventList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Event), Items),
]);

pub(crate) static EventSeries: Message = message("k8s.io.api.core.v1.EventSeries", &[
    one(1, "count", Int32, OmitEmpty),
    one(2, "lastObservedTime", Msg(&meta_v1::MicroTime), OmitEmpty),
]);

pub(crate) static EventSource: Message = message("k8s.io.api.core.v1.EventSource", &[
    one(1, "component", String, OmitEmpty),
    one(2, "host", String, OmitEmpty),
]);

pub(crate) static EvictionResponder: Message = message("k8s.io.api.core.v1.EvictionResponder", &[
    one(1, "name", String, Required),
    one(2, "priority", Int32, Nullable),
]);

pub(crate) static ExecAction: Message = message("k8s.io.api.core.v1.ExecAction", &[
    many(1, "command", String, OmitEmpty),
]);

pub(crate) static FCVolumeSource: Message = message("k8s.io.api.core.v1.FCVolumeSource", &[
    many(1, "targetWWNs", String, OmitEmpty),
    one(2, "lun", Int32, Optional),
    one(3, "fsType", String, OmitEmpty),
    one(4, "readOnly", Bool, OmitEmpty),
    many(5, "wwids", String, OmitEmpty),
]);

pub(crate) static FileKeySelector: Message = message("k8s.io.api.core.v1.FileKeySelector", &[
    one(1, "volumeName", String, Required),
    one(2, "path", String, Required),
    one(3, "key", String, Required),
    one(4, "optional", Bool, Optional),
]);

pub(crate) static FlexPersistentVolumeSource: Message = message("k8s.io.api.core.v1.FlexPersistentVolumeSource", &[
    one(1, "driver", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "secretRef", Msg(&core_v1::SecretReference), Optional),
    one(4, "readOnly", Bool, OmitEmpty),
    map(5, "options", String, OmitEmpty),
]);

pub(crate) static FlexVolumeSource: Message = message("k8s.io.api.core.v1.FlexVolumeSource", &[
    one(1, "driver", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
    one(4, "readOnly", Bool, OmitEmpty),
    map(5, "options", String, OmitEmpty),
]);

pub(crate) static FlockerVolumeSource: Message = message("k8s.io.api.core.v1.FlockerVolumeSource", &[
    one(1, "datasetName", String, OmitEmpty),
    one(2, "datasetUUID", String, OmitEmpty),
]);

pub(crate) static GCEPersistentDiskVolumeSource: Message = message("k8s.io.api.core.v1.GCEPersistentDiskVolumeSource", &[
    one(1, "pdName", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "partition", Int32, OmitEmpty),
    one(4, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static GRPCAction: Message = message("k8s.io.api.core.v1.GRPCAction", &[
    one(1, "port", Int32, Required),
    one(2, "service", String, Nullable),
    one(3, "mode", String, Optional),
]);

pub(crate) static GitRepoVolumeSource: Message = message("k8s.io.api.core.v1.GitRepoVolumeSource", &[
    one(1, "repository", String, Required),
    one(2, "revision", String, OmitEmpty),
    one(3, "directory", String, OmitEmpty),
]);

pub(crate) static GlusterfsPersistentVolumeSource: Message = message("k8s.io.api.core.v1.GlusterfsPersistentVolumeSource", &[
    one(1, "endpoints", String, Required),
    one(2, "path", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "endpointsNamespace", String, Optional),
]);

pub(crate) static GlusterfsVolumeSource: Message = message("k8s.io.api.core.v1.GlusterfsVolumeSource", &[
    one(1, "endpoints", String, Required),
    one(2, "path", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static HTTPGetAction: Message = message("k8s.io.api.core.v1.HTTPGetAction", &[
    one(1, "path", String, OmitEmpty),
    one(2, "port", Msg(&util_intstr::IntOrString), Required),
    one(3, "host", String, OmitEmpty),
    one(4, "scheme", String, OmitEmpty),
    many(5, "httpHeaders", Msg(&core_v1::HTTPHeader), OmitEmpty),
    one(6, "protocol", String, Optional),
]);

pub(crate) static HTTPHeader: Message = message("k8s.io.api.core.v1.HTTPHeader", &[
    one(1, "name", String, Required),
    one(2, "value", String, Required),
]);

pub(crate) static HostAlias: Message = message("k8s.io.api.core.v1.HostAlias", &[
    one(1, "ip", String, Required),
    many(2, "hostnames", String, OmitEmpty),
]);

pub(crate) static HostIP: Message = message("k8s.io.api.core.v1.HostIP", &[
    one(1, "ip", String, Required),
]);

pub(crate) static HostPathVolumeSource: Message = message("k8s.io.api.core.v1.HostPathVolumeSource", &[
    one(1, "path", String, Required),
    one(2, "type", String, Optional),
]);

pub(crate) static ISCSIPersistentVolumeSource: Message = message("k8s.io.api.core.v1.ISCSIPersistentVolumeSource", &[
    one(1, "targetPortal", String, Required),
    one(2, "iqn", String, Required),
    one(3, "lun", Int32, Required),
    one(4, "iscsiInterface", String, OmitEmpty),
    one(5, "fsType", String, OmitEmpty),
    one(6, "readOnly", Bool, OmitEmpty),
    many(7, "portals", String, OmitEmpty),
    one(8, "chapAuthDiscovery", Bool, OmitEmpty),
    one(10, "secretRef", Msg(&core_v1::SecretReference), Optional),
    one(11, "chapAuthSession", Bool, OmitEmpty),
    one(12, "initiatorName", String, Optional),
]);

pub(crate) static ISCSIVolumeSource: Message = message("k8s.io.api.core.v1.ISCSIVolumeSource", &[
    one(1, "targetPortal", String, Required),
    one(2, "iqn", String, Required),
    one(3, "lun", Int32, Required),
    one(4, "iscsiInterface", String, OmitEmpty),
    one(5, "fsType", String, OmitEmpty),
    one(6, "readOnly", Bool, OmitEmpty),
    many(7, "portals", String, OmitEmpty),
    one(8, "chapAuthDiscovery", Bool, OmitEmpty),
    one(10, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
    one(11, "chapAuthSession", Bool, OmitEmpty),
    one(12, "initiatorName", String, Optional),
]);

pub(crate) static ImageVolumeSource: Message = message("k8s.io.api.core.v1.ImageVolumeSource", &[
    one(1, "reference", String, OmitEmpty),
    one(2, "pullPolicy", String, OmitEmpty),
]);

pub(crate) static ImageVolumeStatus: Message = message("k8s.io.api.core.v1.ImageVolumeStatus", &[
    one(1, "imageRef", String, OmitEmpty),
]);

pub(crate) static KeyToPath: Message = message("k8s.io.api.core.v1.KeyToPath", &[
    one(1, "key", String, Required),
    one(2, "path", String, Required),
    one(3, "mode", Int32, Optional),
    one(4, "user", Int64, Optional),
]);

pub(crate) static Lifecycle: Message = message("k8s.io.api.core.v1.Lifecycle", &[
    one(1, "postStart", Msg(&core_v1::LifecycleHandler), Optional),
    one(2, "preStop", Msg(&core_v1::LifecycleHandler), Optional),
    one(3, "stopSignal", String, Optional),
]);

pub(crate) static LifecycleHandler: Message = message("k8s.io.api.core.v1.LifecycleHandler", &[
    one(1, "exec", Msg(&core_v1::ExecAction), Optional),
    one(2, "httpGet", Msg(&core_v1::HTTPGetAction), Optional),
    one(3, "tcpSocket", Msg(&core_v1::TCPSocketAction), Optional),
    one(4, "sleep", Msg(&core_v1::SleepAction), Optional),
]);

pub(crate) static LimitRange: Message = object("k8s.io.api.core.v1.LimitRange", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::LimitRangeSpec), OmitEmpty),
]);

pub(crate) static LimitRangeItem: Message = message("k8s.io.api.core.v1.LimitRangeItem", &[
    one(1, "type", String, Required),
    map(2, "max", Msg(&api_resource::Quantity), OmitEmpty),
    map(3, "min", Msg(&api_resource::Quantity), OmitEmpty),
    map(4, "default", Msg(&api_resource::Quantity), OmitEmpty),
    map(5, "defaultRequest", Msg(&api_resource::Quantity), OmitEmpty),
    map(6, "maxLimitRequestRatio", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static LimitRangeList: Message = object("k8s.io.api.core.v1.LimitRangeList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::LimitRange), Items),
]);

pub(crate) static LimitRangeSpec: Message = message("k8s.io.api.core.v1.LimitRangeSpec", &[
    many(1, "limits", Msg(&core_v1::LimitRangeItem), Required),
]);

pub(crate) static LinuxContainerUser: Message = message("k8s.io.api.core.v1.LinuxContainerUser", &[
    one(1, "uid", Int64, Required),
    one(2, "gid", Int64, Required),
    many(3, "supplementalGroups", Int64, OmitEmpty),
]);

pub(crate) static List: Message = object("k8s.io.api.core.v1.List", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&runtime::RawExtension), Items),
]);

pub(crate) static LoadBalancerIngress: Message = message("k8s.io.api.core.v1.LoadBalancerIngress", &[
    one(1, "ip", String, OmitEmpty),
    one(2, "hostname", String, OmitEmpty),
    one(3, "ipMode", String, Optional),
    many(4, "ports", Msg(&core_v1::PortStatus), OmitEmpty),
]);

pub(crate) static LoadBalancerStatus: Message = message("k8s.io.api.core.v1.LoadBalancerStatus", &[
    many(1, "ingress", Msg(&core_v1::LoadBalancerIngress), OmitEmpty),
]);

pub(crate) static LocalObjectReference: Message = message("k8s.io.api.core.v1.LocalObjectReference", &[
    one(1, "name", String, OmitEmpty),
]);

pub(crate) static LocalVolumeSource: Message = message("k8s.io.api.core.v1.LocalVolumeSource", &[
    one(1, "path", String, Required),
    one(2, "fsType", String, Optional),
]);

pub(crate) static ModifyVolumeStatus: Message = message("k8s.io.api.core.v1.ModifyVolumeStatus", &[
    one(1, "targetVolumeAttributesClassName", String, OmitEmpty),
    one(2, "status", String, Required),
]);

pub(crate) static NFSVolumeSource: Message = message("k8s.io.api.core.v1.NFSVolumeSource", &[
    one(1, "server", String, Required),
    one(2, "path", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static Namespace: Message = object("k8s.io.api.core.v1.Namespace", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::NamespaceSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::NamespaceStatus), OmitEmpty),
]);

pub(crate) static NamespaceCondition: Message = message("k8s.io.api.core.v1.NamespaceCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, OmitEmpty),
    one(6, "message", String, OmitEmpty),
]);

pub(crate) static NamespaceList: Message = object("k8s.io.api.core.v1.NamespaceList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Namespace), Items),
]);

pub(crate) static NamespaceSpec: Message = message("k8s.io.api.core.v1.NamespaceSpec", &[
    many(1, "finalizers", String, OmitEmpty),
]);

pub(crate) static NamespaceStatus: Message = message("k8s.io.api.core.v1.NamespaceStatus", &[
    one(1, "phase", String, OmitEmpty),
    many(2, "conditions", Msg(&core_v1::NamespaceCondition), OmitEmpty),
]);

pub(crate) static Node: Message = object("k8s.io.api.core.v1.Node", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::NodeSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::NodeStatus), OmitEmpty),
]);

pub(crate) static NodeAddress: Message = message("k8s.io.api.core.v1.NodeAddress", &[
    one(1, "type", String, Required),
    one(2, "address", String, Required),
]);

pub(crate) static NodeAffinity: Message = message("k8s.io.api.core.v1.NodeAffinity", &[
    one(1, "requiredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::NodeSelector), Optional),
    many(2, "preferredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::PreferredSchedulingTerm), OmitEmpty),
]);

pub(crate) static NodeAllocatableMappedResources: Message = message("k8s.io.api.core.v1.NodeAllocatableMappedResources", &[
    one(1, "name", String, Required),
    one(2, "quantity", Msg(&api_resource::Quantity), Nullable),
]);

pub(crate) static NodeAllocatableOverheadResources: Message = message("k8s.io.api.core.v1.NodeAllocatableOverheadResources", &[
    one(1, "name", String, Required),
    one(2, "perPod", Msg(&api_resource::Quantity), Optional),
    one(3, "perContainer", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static NodeAllocatableResourceClaimStatus: Message = message("k8s.io.api.core.v1.NodeAllocatableResourceClaimStatus", &[
    one(1, "resourceClaimName", String, Required),
    many(2, "containers", String, OmitEmpty),
    many(4, "mapping", Msg(&core_v1::NodeAllocatableMappedResources), OmitEmpty),
    many(5, "overhead", Msg(&core_v1::NodeAllocatableOverheadResources), OmitEmpty),
]);

pub(crate) static NodeCondition: Message = message("k8s.io.api.core.v1.NodeCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastHeartbeatTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, OmitEmpty),
    one(6, "message", String, OmitEmpty),
]);

pub(crate) static NodeConfigSource: Message = message("k8s.io.api.core.v1.NodeConfigSource", &[
    one(2, "configMap", Msg(&core_v1::ConfigMapNodeConfigSource), Optional),
]);

pub(crate) static NodeConfigStatus: Message = message("k8s.io.api.core.v1.NodeConfigStatus", &[
    one(1, "assigned", Msg(&core_v1::NodeConfigSource), Optional),
    one(2, "active", Msg(&core_v1::NodeConfigSource), Optional),
    one(3, "lastKnownGood", Msg(&core_v1::NodeConfigSource), Optional),
    one(4, "error", String, OmitEmpty),
]);

pub(crate) static NodeDaemonEndpoints: Message = message("k8s.io.api.core.v1.NodeDaemonEndpoints", &[
    one(1, "kubeletEndpoint", Msg(&core_v1::DaemonEndpoint), OmitEmpty),
]);

pub(crate) static NodeFeatures: Message = message("k8s.io.api.core.v1.NodeFeatures", &[
    one(1, "supplementalGroupsPolicy", Bool, Optional),
]);

pub(crate) static NodeList: Message = object("k8s.io.api.core.v1.NodeList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Node), Items),
]);

pub(crate) static NodePodPreemptionPolicy: Message = message("k8s.io.api.core.v1.NodePodPreemptionPolicy", &[
    many(1, "disableResizePreemption", String, OmitEmpty),
]);

pub(crate) static NodeProxyOptions: Message = object("k8s.io.api.core.v1.NodeProxyOptions", &[
    one(1, "path", String, OmitEmpty),
]);

pub(crate) static NodeRuntimeHandler: Message = message("k8s.io.api.core.v1.NodeRuntimeHandler", &[
    one(1, "name", String, Required),
    one(2, "features", Msg(&core_v1::NodeRuntimeHandlerFeatures), Optional),
]);

pub(crate) static NodeRuntimeHandlerFeatures: Message = message("k8s.io.api.core.v1.NodeRuntimeHandlerFeatures", &[
    one(1, "recursiveReadOnlyMounts", Bool, Optional),
    one(2, "userNamespaces", Bool, Optional),
]);

pub(crate) static NodeSelector: Message = message("k8s.io.api.core.v1.NodeSelector", &[
    many(1, "nodeSelectorTerms", Msg(&core_v1::NodeSelectorTerm), Required),
]);

pub(crate) static NodeSelectorRequirement: Message = message("k8s.io.api.core.v1.NodeSelectorRequirement", &[
    one(1, "key", String, Required),
    one(2, "operator", String, Required),
    many(3, "values", String, OmitEmpty),
]);

pub(crate) static NodeSelectorTerm: Message = message("k8s.io.api.core.v1.NodeSelectorTerm", &[
    many(1, "matchExpressions", Msg(&core_v1::NodeSelectorRequirement), OmitEmpty),
    many(2, "matchFields", Msg(&core_v1::NodeSelectorRequirement), OmitEmpty),
]);

pub(crate) static NodeSpec: Message = message("k8s.io.api.core.v1.NodeSpec", &[
    one(1, "podCIDR", String, OmitEmpty),
    one(2, "externalID", String, OmitEmpty),
    one(3, "providerID", String, OmitEmpty),
    one(4, "unschedulable", Bool, OmitEmpty),
    many(5, "taints", Msg(&core_v1::Taint), OmitEmpty),
    one(6, "configSource", Msg(&core_v1::NodeConfigSource), Optional),
    many(7, "podCIDRs", String, OmitEmpty),
    one(8, "podPreemptionPolicy", Msg(&core_v1::NodePodPreemptionPolicy), Optional),
]);

pub(crate) static NodeStatus: Message = message("k8s.io.api.core.v1.NodeStatus", &[
    map(1, "capacity", Msg(&api_resource::Quantity), OmitEmpty),
    map(2, "allocatable", Msg(&api_resource::Quantity), OmitEmpty),
    one(3, "phase", String, OmitEmpty),
    many(4, "conditions", Msg(&core_v1::NodeCondition), OmitEmpty),
    many(5, "addresses", Msg(&core_v1::NodeAddress), OmitEmpty),
    one(6, "daemonEndpoints", Msg(&core_v1::NodeDaemonEndpoints), OmitEmpty),
    one(7, "nodeInfo", Msg(&core_v1::NodeSystemInfo), OmitEmpty),
    many(8, "images", Msg(&core_v1::ContainerImage), OmitEmpty),
    many(9, "volumesInUse", String, OmitEmpty),
    many(10, "volumesAttached", Msg(&core_v1::AttachedVolume), OmitEmpty),
    one(11, "config", Msg(&core_v1::NodeConfigStatus), Optional),
    many(12, "runtimeHandlers", Msg(&core_v1::NodeRuntimeHandler), OmitEmpty),
    one(13, "features", Msg(&core_v1::NodeFeatures), Optional),
    many(14, "declaredFeatures", String, OmitEmpty),
]);

pub(crate) static NodeSwapStatus: Message = message("k8s.io.api.core.v1.NodeSwapStatus", &[
    one(1, "capacity", Int64, Optional),
]);

pub(crate) static NodeSystemInfo: Message = message("k8s.io.api.core.v1.NodeSystemInfo", &[
    one(1, "machineID", String, Required),
    one(2, "systemUUID", String, Required),
    one(3, "bootID", String, Required),
    one(4, "kernelVersion", String, Required),
    one(5, "osImage", String, Required),
    one(6, "containerRuntimeVersion", String, Required),
    one(7, "kubeletVersion", String, Required),
    one(8, "kubeProxyVersion", String, Required),
    one(9, "operatingSystem", String, Required),
    one(10, "architecture", String, Required),
    one(11, "swap", Msg(&core_v1::NodeSwapStatus), Optional),
    one(12, "runningInUserNamespace", Bool, Optional),
]);

pub(crate) static ObjectFieldSelector: Message = message("k8s.io.api.core.v1.ObjectFieldSelector", &[
    one(1, "apiVersion", String, OmitEmpty),
    one(2, "fieldPath", String, Required),
]);

pub(crate) static ObjectReference: Message = message("k8s.io.api.core.v1.ObjectReference", &[
    one(1, "kind", String, OmitEmpty),
    one(2, "namespace", String, OmitEmpty),
    one(3, "name", String, OmitEmpty),
    one(4, "uid", String, OmitEmpty),
    one(5, "apiVersion", String, OmitEmpty),
    one(6, "resourceVersion", String, OmitEmpty),
    one(7, "fieldPath", String, OmitEmpty),
]);

pub(crate) static PersistentVolume: Message = object("k8s.io.api.core.v1.PersistentVolume", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::PersistentVolumeSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::PersistentVolumeStatus), OmitEmpty),
]);

pub(crate) static PersistentVolumeClaim: Message = object("k8s.io.api.core.v1.PersistentVolumeClaim", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::PersistentVolumeClaimSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::PersistentVolumeClaimStatus), OmitEmpty),
]);

pub(crate) static PersistentVolumeClaimCondition: Message = message("k8s.io.api.core.v1.PersistentVolumeClaimCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastProbeTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, OmitEmpty),
    one(6, "message", String, OmitEmpty),
]);

pub(crate) static PersistentVolumeClaimList: Message = object("k8s.io.api.core.v1.PersistentVolumeClaimList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::PersistentVolumeClaim), Items),
]);

pub(crate) static PersistentVolumeClaimSpec: Message = message("k8s.io.api.core.v1.PersistentVolumeClaimSpec", &[
    many(1, "accessModes", String, OmitEmpty),
    one(2, "resources", Msg(&core_v1::VolumeResourceRequirements), OmitEmpty),
    one(3, "volumeName", String, OmitEmpty),
    one(4, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(5, "storageClassName", String, Optional),
    one(6, "volumeMode", String, Optional),
    one(7, "dataSource", Msg(&core_v1::TypedLocalObjectReference), Optional),
    one(8, "dataSourceRef", Msg(&core_v1::TypedObjectReference), Optional),
    one(9, "volumeAttributesClassName", String, Optional),
]);

pub(crate) static PersistentVolumeClaimStatus: Message = message("k8s.io.api.core.v1.PersistentVolumeClaimStatus", &[
    one(1, "phase", String, OmitEmpty),
    many(2, "accessModes", String, OmitEmpty),
    map(3, "capacity", Msg(&api_resource::Quantity), OmitEmpty),
    many(4, "conditions", Msg(&core_v1::PersistentVolumeClaimCondition), OmitEmpty),
    map(5, "allocatedResources", Msg(&api_resource::Quantity), OmitEmpty),
    map(7, "allocatedResourceStatuses", String, OmitEmpty),
    one(8, "currentVolumeAttributesClassName", String, Optional),
    one(9, "modifyVolumeStatus", Msg(&core_v1::ModifyVolumeStatus), Optional),
    one(10, "healthStatus", Msg(&core_v1::VolumeHealthStatus), Optional),
]);

pub(crate) static PersistentVolumeClaimTemplate: Message = message("k8s.io.api.core.v1.PersistentVolumeClaimTemplate", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::PersistentVolumeClaimSpec), Required),
]);

pub(crate) static PersistentVolumeClaimVolumeSource: Message = message("k8s.io.api.core.v1.PersistentVolumeClaimVolumeSource", &[
    one(1, "claimName", String, Required),
    one(2, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static PersistentVolumeList: Message = object("k8s.io.api.core.v1.PersistentVolumeList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::PersistentVolume), Items),
]);

pub(crate) static PersistentVolumeSource: Message = message("k8s.io.api.core.v1.PersistentVolumeSource", &[
    one(1, "gcePersistentDisk", Msg(&core_v1::GCEPersistentDiskVolumeSource), Optional),
    one(2, "awsElasticBlockStore", Msg(&core_v1::AWSElasticBlockStoreVolumeSource), Optional),
    one(3, "hostPath", Msg(&core_v1::HostPathVolumeSource), Optional),
    one(4, "glusterfs", Msg(&core_v1::GlusterfsPersistentVolumeSource), Optional),
    one(5, "nfs", Msg(&core_v1::NFSVolumeSource), Optional),
    one(6, "rbd", Msg(&core_v1::RBDPersistentVolumeSource), Optional),
    one(7, "iscsi", Msg(&core_v1::ISCSIPersistentVolumeSource), Optional),
    one(8, "cinder", Msg(&core_v1::CinderPersistentVolumeSource), Optional),
    one(9, "cephfs", Msg(&core_v1::CephFSPersistentVolumeSource), Optional),
    one(10, "fc", Msg(&core_v1::FCVolumeSource), Optional),
    one(11, "flocker", Msg(&core_v1::FlockerVolumeSource), Optional),
    one(12, "flexVolume", Msg(&core_v1::FlexPersistentVolumeSource), Optional),
    one(13, "azureFile", Msg(&core_v1::AzureFilePersistentVolumeSource), Optional),
    one(14, "vsphereVolume", Msg(&core_v1::VsphereVirtualDiskVolumeSource), Optional),
    one(15, "quobyte", Msg(&core_v1::QuobyteVolumeSource), Optional),
    one(16, "azureDisk", Msg(&core_v1::AzureDiskVolumeSource), Optional),
    one(17, "photonPersistentDisk", Msg(&core_v1::PhotonPersistentDiskVolumeSource), Optional),
    one(18, "portworxVolume", Msg(&core_v1::PortworxVolumeSource), Optional),
    one(19, "scaleIO", Msg(&core_v1::ScaleIOPersistentVolumeSource), Optional),
    one(20, "local", Msg(&core_v1::LocalVolumeSource), Optional),
    one(21, "storageos", Msg(&core_v1::StorageOSPersistentVolumeSource), Optional),
    one(22, "csi", Msg(&core_v1::CSIPersistentVolumeSource), Optional),
]);

pub(crate) static PersistentVolumeSpec: Message = message("k8s.io.api.core.v1.PersistentVolumeSpec", &[
    map(1, "capacity", Msg(&api_resource::Quantity), OmitEmpty),
    one(2, "", Msg(&core_v1::PersistentVolumeSource), Inline),
    many(3, "accessModes", String, OmitEmpty),
    one(4, "claimRef", Msg(&core_v1::ObjectReference), Optional),
    one(5, "persistentVolumeReclaimPolicy", String, OmitEmpty),
    one(6, "storageClassName", String, OmitEmpty),
    many(7, "mountOptions", String, OmitEmpty),
    one(8, "volumeMode", String, Optional),
    one(9, "nodeAffinity", Msg(&core_v1::VolumeNodeAffinity), Optional),
    one(10, "volumeAttributesClassName", String, Optional),
]);

pub(crate) static PersistentVolumeStatus: Message = message("k8s.io.api.core.v1.PersistentVolumeStatus", &[
    one(1, "phase", String, OmitEmpty),
    one(2, "message", String, OmitEmpty),
    one(3, "reason", String, OmitEmpty),
    one(4, "lastPhaseTransitionTime", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static PhotonPersistentDiskVolumeSource: Message = message("k8s.io.api.core.v1.PhotonPersistentDiskVolumeSource", &[
    one(1, "pdID", String, Required),
    one(2, "fsType", String, OmitEmpty),
]);

pub(crate) static Pod: Message = object("k8s.io.api.core.v1.Pod", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::PodSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::PodStatus), OmitEmpty),
]);

pub(crate) static PodAffinity: Message = message("k8s.io.api.core.v1.PodAffinity", &[
    many(1, "requiredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::PodAffinityTerm), OmitEmpty),
    many(2, "preferredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::WeightedPodAffinityTerm), OmitEmpty),
]);

pub(crate) static PodAffinityTerm: Message = message("k8s.io.api.core.v1.PodAffinityTerm", &[
    one(1, "labelSelector", Msg(&meta_v1::LabelSelector), Optional),
    many(2, "namespaces", String, OmitEmpty),
    one(3, "topologyKey", String, Required),
    one(4, "namespaceSelector", Msg(&meta_v1::LabelSelector), Optional),
    many(5, "matchLabelKeys", String, OmitEmpty),
    many(6, "mismatchLabelKeys", String, OmitEmpty),
]);

pub(crate) static PodAntiAffinity: Message = message("k8s.io.api.core.v1.PodAntiAffinity", &[
    many(1, "requiredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::PodAffinityTerm), OmitEmpty),
    many(2, "preferredDuringSchedulingIgnoredDuringExecution", Msg(&core_v1::WeightedPodAffinityTerm), OmitEmpty),
]);

pub(crate) static PodAttachOptions: Message = object("k8s.io.api.core.v1.PodAttachOptions", &[
    one(1, "stdin", Bool, OmitEmpty),
    one(2, "stdout", Bool, OmitEmpty),
    one(3, "stderr", Bool, OmitEmpty),
    one(4, "tty", Bool, OmitEmpty),
    one(5, "container", String, OmitEmpty),
]);

pub(crate) static PodCertificateProjection: Message = message("k8s.io.api.core.v1.PodCertificateProjection", &[
    one(1, "signerName", String, OmitEmpty),
    one(2, "keyType", String, OmitEmpty),
    one(3, "maxExpirationSeconds", Int32, Optional),
    one(4, "credentialBundlePath", String, OmitEmpty),
    one(5, "keyPath", String, OmitEmpty),
    one(6, "certificateChainPath", String, OmitEmpty),
    map(7, "userAnnotations", String, OmitEmpty),
    one(8, "user", Int64, Optional),
]);

pub(crate) static PodCondition: Message = message("k8s.io.api.core.v1.PodCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastProbeTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, OmitEmpty),
    one(6, "message", String, OmitEmpty),
    one(7, "observedGeneration", Int64, OmitEmpty),
]);

pub(crate) static PodDNSConfig: Message = message("k8s.io.api.core.v1.PodDNSConfig", &[
    many(1, "nameservers", String, OmitEmpty),
    many(2, "searches", String, OmitEmpty),
    many(3, "options", Msg(&core_v1::PodDNSConfigOption), OmitEmpty),
]);

pub(crate) static PodDNSConfigOption: Message = message("k8s.io.api.core.v1.PodDNSConfigOption", &[
    one(1, "name", String, OmitEmpty),
    one(2, "value", String, Optional),
]);

pub(crate) static PodExecOptions: Message = object("k8s.io.api.core.v1.PodExecOptions", &[
    one(1, "stdin", Bool, OmitEmpty),
    one(2, "stdout", Bool, OmitEmpty),
    one(3, "stderr", Bool, OmitEmpty),
    one(4, "tty", Bool, OmitEmpty),
    one(5, "container", String, OmitEmpty),
    many(6, "command", String, Required),
]);

pub(crate) static PodExtendedResourceClaimStatus: Message = message("k8s.io.api.core.v1.PodExtendedResourceClaimStatus", &[
    many(1, "requestMappings", Msg(&core_v1::ContainerExtendedResourceRequest), Required),
    one(2, "resourceClaimName", String, Required),
]);

pub(crate) static PodIP: Message = message("k8s.io.api.core.v1.PodIP", &[
    one(1, "ip", String, Required),
]);

pub(crate) static PodList: Message = object("k8s.io.api.core.v1.PodList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Pod), Items),
]);

pub(crate) static PodLogOptions: Message = object("k8s.io.api.core.v1.PodLogOptions", &[
    one(1, "container", String, OmitEmpty),
    one(2, "follow", Bool, OmitEmpty),
    one(3, "previous", Bool, OmitEmpty),
    one(4, "sinceSeconds", Int64, Optional),
    one(5, "sinceTime", Msg(&meta_v1::Time), Optional),
    one(6, "timestamps", Bool, OmitEmpty),
    one(7, "tailLines", Int64, Optional),
    one(8, "limitBytes", Int64, Optional),
    one(9, "insecureSkipTLSVerifyBackend", Bool, OmitEmpty),
    one(10, "stream", String, Optional),
]);

pub(crate) static PodOS: Message = message("k8s.io.api.core.v1.PodOS", &[
    one(1, "name", String, Required),
]);

pub(crate) static PodPortForwardOptions: Message = object("k8s.io.api.core.v1.PodPortForwardOptions", &[
    many(1, "ports", Int32, OmitEmpty),
]);

pub(crate) static PodProxyOptions: Message = object("k8s.io.api.core.v1.PodProxyOptions", &[
    one(1, "path", String, OmitEmpty),
]);

pub(crate) static PodReadinessGate: Message = message("k8s.io.api.core.v1.PodReadinessGate", &[
    one(1, "conditionType", String, Required),
]);

pub(crate) static PodResourceClaim: Message = message("k8s.io.api.core.v1.PodResourceClaim", &[
    one(1, "name", String, Required),
    one(3, "resourceClaimName", String, Optional),
    one(4, "resourceClaimTemplateName", String, Optional),
]);

pub(crate) static PodResourceClaimStatus: Message = message("k8s.io.api.core.v1.PodResourceClaimStatus", &[
    one(1, "name", String, Required),
    one(2, "resourceClaimName", String, Optional),
]);

pub(crate) static PodSchedulingGate: Message = message("k8s.io.api.core.v1.PodSchedulingGate", &[
    one(1, "name", String, Required),
]);

pub(crate) static PodSchedulingGroup: Message = message("k8s.io.api.core.v1.PodSchedulingGroup", &[
    one(1, "podGroupName", String, Optional),
]);

pub(crate) static PodSecurityContext: Message = message("k8s.io.api.core.v1.PodSecurityContext", &[
    one(1, "seLinuxOptions", Msg(&core_v1::SELinuxOptions), Optional),
    one(2, "runAsUser", Int64, Optional),
    one(3, "runAsNonRoot", Bool, Optional),
    many(4, "supplementalGroups", Int64, OmitEmpty),
    one(5, "fsGroup", Int64, Optional),
    one(6, "runAsGroup", Int64, Optional),
    many(7, "sysctls", Msg(&core_v1::Sysctl), OmitEmpty),
    one(8, "windowsOptions", Msg(&core_v1::WindowsSecurityContextOptions), Optional),
    one(9, "fsGroupChangePolicy", String, Optional),
    one(10, "seccompProfile", Msg(&core_v1::SeccompProfile), Optional),
    one(11, "appArmorProfile", Msg(&core_v1::AppArmorProfile), Optional),
    one(12, "supplementalGroupsPolicy", String, Optional),
    one(13, "seLinuxChangePolicy", String, Optional),
]);

pub(crate) static PodSignature: Message = message("k8s.io.api.core.v1.PodSignature", &[
    one(1, "podController", Msg(&meta_v1::OwnerReference), Optional),
]);

pub(crate) static PodSpec: Message = message("k8s.io.api.core.v1.PodSpec", &[
    many(1, "volumes", Msg(&core_v1::Volume), OmitEmpty),
    many(2, "containers", Msg(&core_v1::Container), Required),
    one(3, "restartPolicy", String, OmitEmpty),
    one(4, "terminationGracePeriodSeconds", Int64, Optional),
    one(5, "activeDeadlineSeconds", Int64, Optional),
    one(6, "dnsPolicy", String, OmitEmpty),
    map(7, "nodeSelector", String, OmitEmpty),
    one(8, "serviceAccountName", String, OmitEmpty),
    one(9, "serviceAccount", String, OmitEmpty),
    one(10, "nodeName", String, OmitEmpty),
    one(11, "hostNetwork", Bool, OmitEmpty),
    one(12, "hostPID", Bool, OmitEmpty),
    one(13, "hostIPC", Bool, OmitEmpty),
    one(14, "securityContext", Msg(&core_v1::PodSecurityContext), Optional),
    many(15, "imagePullSecrets", Msg(&core_v1::LocalObjectReference), OmitEmpty),
    one(16, "hostname", String, OmitEmpty),
    one(17, "subdomain", String, OmitEmpty),
    one(18, "affinity", Msg(&core_v1::Affinity), Optional),
    one(19, "schedulerName", String, OmitEmpty),
    many(20, "initContainers", Msg(&core_v1::Container), OmitEmpty),
    one(21, "automountServiceAccountToken", Bool, Optional),
    many(22, "tolerations", Msg(&core_v1::Toleration), OmitEmpty),
    many(23, "hostAliases", Msg(&core_v1::HostAlias), OmitEmpty),
    one(24, "priorityClassName", String, OmitEmpty),
    one(25, "priority", Int32, Optional),
    one(26, "dnsConfig", Msg(&core_v1::PodDNSConfig), Optional),
    one(27, "shareProcessNamespace", Bool, Optional),
    many(28, "readinessGates", Msg(&core_v1::PodReadinessGate), OmitEmpty),
    one(29, "runtimeClassName", String, Optional),
    one(30, "enableServiceLinks", Bool, Optional),
    one(31, "preemptionPolicy", String, Optional),
    map(32, "overhead", Msg(&api_resource::Quantity), OmitEmpty),
    many(33, "topologySpreadConstraints", Msg(&core_v1::TopologySpreadConstraint), OmitEmpty),
    many(34, "ephemeralContainers", Msg(&core_v1::EphemeralContainer), OmitEmpty),
    one(35, "setHostnameAsFQDN", Bool, Optional),
    one(36, "os", Msg(&core_v1::PodOS), Optional),
    one(37, "hostUsers", Bool, Optional),
    many(38, "schedulingGates", Msg(&core_v1::PodSchedulingGate), OmitEmpty),
    many(39, "resourceClaims", Msg(&core_v1::PodResourceClaim), OmitEmpty),
    one(40, "resources", Msg(&core_v1::ResourceRequirements), Optional),
    one(41, "hostnameOverride", String, Optional),
    one(43, "schedulingGroup", Msg(&core_v1::PodSchedulingGroup), Optional),
    many(44, "evictionResponders", Msg(&core_v1::EvictionResponder), OmitEmpty),
]);

pub(crate) static PodStatus: Message = message("k8s.io.api.core.v1.PodStatus", &[
    one(1, "phase", String, OmitEmpty),
    many(2, "conditions", Msg(&core_v1::PodCondition), OmitEmpty),
    one(3, "message", String, OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "hostIP", String, OmitEmpty),
    one(6, "podIP", String, OmitEmpty),
    one(7, "startTime", Msg(&meta_v1::Time), Optional),
    many(8, "containerStatuses", Msg(&core_v1::ContainerStatus), OmitEmpty),
    one(9, "qosClass", String, OmitEmpty),
    many(10, "initContainerStatuses", Msg(&core_v1::ContainerStatus), OmitEmpty),
    one(11, "nominatedNodeName", String, OmitEmpty),
    many(12, "podIPs", Msg(&core_v1::PodIP), OmitEmpty),
    many(13, "ephemeralContainerStatuses", Msg(&core_v1::ContainerStatus), OmitEmpty),
    one(14, "resize", String, OmitEmpty),
    many(15, "resourceClaimStatuses", Msg(&core_v1::PodResourceClaimStatus), OmitEmpty),
    many(16, "hostIPs", Msg(&core_v1::HostIP), OmitEmpty),
    one(17, "observedGeneration", Int64, OmitEmpty),
    one(18, "extendedResourceClaimStatus", Msg(&core_v1::PodExtendedResourceClaimStatus), Optional),
    map(19, "allocatedResources", Msg(&api_resource::Quantity), OmitEmpty),
    one(20, "resources", Msg(&core_v1::ResourceRequirements), Optional),
    many(21, "nodeAllocatableResourceClaimStatuses", Msg(&core_v1::NodeAllocatableResourceClaimStatus), OmitEmpty),
    many(22, "volumeHealth", Msg(&core_v1::PodVolumeHealth), OmitEmpty),
]);

pub(crate) static PodTemplate: Message = object("k8s.io.api.core.v1.PodTemplate", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "template", Msg(&core_v1::PodTemplateSpec), OmitEmpty),
]);

pub(crate) static PodTemplateList: Message = object("k8s.io.api.core.v1.PodTemplateList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::PodTemplate), Items),
]);

pub(crate) static PodTemplateSpec: Message = message("k8s.io.api.core.v1.PodTemplateSpec", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::PodSpec), OmitEmpty),
]);

pub(crate) static PodVolumeHealth: Message = message("k8s.io.api.core.v1.PodVolumeHealth", &[
    one(1, "name", String, Required),
    many(2, "healthConditions", Msg(&core_v1::VolumeHealthCondition), OmitEmpty),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static PortStatus: Message = message("k8s.io.api.core.v1.PortStatus", &[
    one(1, "port", Int32, Required),
    one(2, "protocol", String, Required),
    one(3, "error", String, Optional),
]);

pub(crate) static PortworxVolumeSource: Message = message("k8s.io.api.core.v1.PortworxVolumeSource", &[
    one(1, "volumeID", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static Preconditions: Message = message("k8s.io.api.core.v1.Preconditions", &[
    one(1, "uid", String, Optional),
]);

pub(crate) static PreferAvoidPodsEntry: Message = message("k8s.io.api.core.v1.PreferAvoidPodsEntry", &[
    one(1, "podSignature", Msg(&core_v1::PodSignature), Required),
    one(2, "evictionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(3, "reason", String, OmitEmpty),
    one(4, "message", String, OmitEmpty),
]);

pub(crate) static PreferredSchedulingTerm: Message = message("k8s.io.api.core.v1.PreferredSchedulingTerm", &[
    one(1, "weight", Int32, Required),
    one(2, "preference", Msg(&core_v1::NodeSelectorTerm), Required),
]);

pub(crate) static Probe: Message = message("k8s.io.api.core.v1.Probe", &[
    one(1, "", Msg(&core_v1::ProbeHandler), Inline),
    one(2, "initialDelaySeconds", Int32, OmitEmpty),
    one(3, "timeoutSeconds", Int32, OmitEmpty),
    one(4, "periodSeconds", Int32, OmitEmpty),
    one(5, "successThreshold", Int32, OmitEmpty),
    one(6, "failureThreshold", Int32, OmitEmpty),
    one(7, "terminationGracePeriodSeconds", Int64, Optional),
]);

pub(crate) static ProbeHandler: Message = message("k8s.io.api.core.v1.ProbeHandler", &[
    one(1, "exec", Msg(&core_v1::ExecAction), Optional),
    one(2, "httpGet", Msg(&core_v1::HTTPGetAction), Optional),
    one(3, "tcpSocket", Msg(&core_v1::TCPSocketAction), Optional),
    one(4, "grpc", Msg(&core_v1::GRPCAction), Optional),
]);

pub(crate) static ProjectedVolumeSource: Message = message("k8s.io.api.core.v1.ProjectedVolumeSource", &[
    many(1, "sources", Msg(&core_v1::VolumeProjection), Required),
    one(2, "defaultMode", Int32, Optional),
    one(3, "defaultUser", Int64, Optional),
]);

pub(crate) static QuobyteVolumeSource: Message = message("k8s.io.api.core.v1.QuobyteVolumeSource", &[
    one(1, "registry", String, Required),
    one(2, "volume", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "user", String, OmitEmpty),
    one(5, "group", String, OmitEmpty),
    one(6, "tenant", String, OmitEmpty),
]);

pub(crate) static RBDPersistentVolumeSource: Message = message("k8s.io.api.core.v1.RBDPersistentVolumeSource", &[
    many(1, "monitors", String, Required),
    one(2, "image", String, Required),
    one(3, "fsType", String, OmitEmpty),
    one(4, "pool", String, OmitEmpty),
    one(5, "user", String, OmitEmpty),
    one(6, "keyring", String, OmitEmpty),
    one(7, "secretRef", Msg(&core_v1::SecretReference), Optional),
    one(8, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static RBDVolumeSource: Message = message("k8s.io.api.core.v1.RBDVolumeSource", &[
    many(1, "monitors", String, Required),
    one(2, "image", String, Required),
    one(3, "fsType", String, OmitEmpty),
    one(4, "pool", String, OmitEmpty),
    one(5, "user", String, OmitEmpty),
    one(6, "keyring", String, OmitEmpty),
    one(7, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
    one(8, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static RangeAllocation: Message = object("k8s.io.api.core.v1.RangeAllocation", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "range", String, Required),
    one(3, "data", Bytes, Required),
]);

pub(crate) static ReplicationController: Message = object("k8s.io.api.core.v1.ReplicationController", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::ReplicationControllerSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::ReplicationControllerStatus), OmitEmpty),
]);

pub(crate) static ReplicationControllerCondition: Message = message("k8s.io.api.core.v1.ReplicationControllerCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static ReplicationControllerList: Message = object("k8s.io.api.core.v1.ReplicationControllerList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::ReplicationController), Items),
]);

pub(crate) static ReplicationControllerSpec: Message = message("k8s.io.api.core.v1.ReplicationControllerSpec", &[
    one(1, "replicas", Int32, Optional),
    map(2, "selector", String, OmitEmpty),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Optional),
    one(4, "minReadySeconds", Int32, OmitEmpty),
]);

pub(crate) static ReplicationControllerStatus: Message = message("k8s.io.api.core.v1.ReplicationControllerStatus", &[
    one(1, "replicas", Int32, Required),
    one(2, "fullyLabeledReplicas", Int32, OmitEmpty),
    one(3, "observedGeneration", Int64, OmitEmpty),
    one(4, "readyReplicas", Int32, OmitEmpty),
    one(5, "availableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&core_v1::ReplicationControllerCondition), OmitEmpty),
]);

pub(crate) static ResourceClaim: Message = message("k8s.io.api.core.v1.ResourceClaim", &[
    one(1, "name", String, Required),
    one(2, "request", String, OmitEmpty),
]);

pub(crate) static ResourceFieldSelector: Message = message("k8s.io.api.core.v1.ResourceFieldSelector", &[
    one(1, "containerName", String, OmitEmpty),
    one(2, "resource", String, Required),
    one(3, "divisor", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static ResourceHealth: Message = message("k8s.io.api.core.v1.ResourceHealth", &[
    one(1, "resourceID", String, Required),
    one(2, "health", String, OmitEmpty),
    one(6, "message", String, Optional),
]);

pub(crate) static ResourceQuota: Message = object("k8s.io.api.core.v1.ResourceQuota", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::ResourceQuotaSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::ResourceQuotaStatus), OmitEmpty),
]);

pub(crate) static ResourceQuotaList: Message = object("k8s.io.api.core.v1.ResourceQuotaList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::ResourceQuota), Items),
]);

pub(crate) static ResourceQuotaSpec: Message = message("k8s.io.api.core.v1.ResourceQuotaSpec", &[
    map(1, "hard", Msg(&api_resource::Quantity), OmitEmpty),
    many(2, "scopes", String, OmitEmpty),
    one(3, "scopeSelector", Msg(&core_v1::ScopeSelector), Optional),
]);

pub(crate) static ResourceQuotaStatus: Message = message("k8s.io.api.core.v1.ResourceQuotaStatus", &[
    map(1, "hard", Msg(&api_resource::Quantity), OmitEmpty),
    map(2, "used", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static ResourceRequirements: Message = message("k8s.io.api.core.v1.ResourceRequirements", &[
    map(1, "limits", Msg(&api_resource::Quantity), OmitEmpty),
    map(2, "requests", Msg(&api_resource::Quantity), OmitEmpty),
    many(3, "claims", Msg(&core_v1::ResourceClaim), OmitEmpty),
]);

pub(crate) static ResourceStatus: Message = message("k8s.io.api.core.v1.ResourceStatus", &[
    one(1, "name", String, Required),
    many(2, "resources", Msg(&core_v1::ResourceHealth), OmitEmpty),
]);

pub(crate) static SELinuxOptions: Message = message("k8s.io.api.core.v1.SELinuxOptions", &[
    one(1, "user", String, OmitEmpty),
    one(2, "role", String, OmitEmpty),
    one(3, "type", String, OmitEmpty),
    one(4, "level", String, OmitEmpty),
]);

pub(crate) static ScaleIOPersistentVolumeSource: Message = message("k8s.io.api.core.v1.ScaleIOPersistentVolumeSource", &[
    one(1, "gateway", String, Required),
    one(2, "system", String, Required),
    one(3, "secretRef", Msg(&core_v1::SecretReference), Nullable),
    one(4, "sslEnabled", Bool, OmitEmpty),
    one(5, "protectionDomain", String, OmitEmpty),
    one(6, "storagePool", String, OmitEmpty),
    one(7, "storageMode", String, OmitEmpty),
    one(8, "volumeName", String, OmitEmpty),
    one(9, "fsType", String, OmitEmpty),
    one(10, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static ScaleIOVolumeSource: Message = message("k8s.io.api.core.v1.ScaleIOVolumeSource", &[
    one(1, "gateway", String, Required),
    one(2, "system", String, Required),
    one(3, "secretRef", Msg(&core_v1::LocalObjectReference), Nullable),
    one(4, "sslEnabled", Bool, OmitEmpty),
    one(5, "protectionDomain", String, OmitEmpty),
    one(6, "storagePool", String, OmitEmpty),
    one(7, "storageMode", String, OmitEmpty),
    one(8, "volumeName", String, OmitEmpty),
    one(9, "fsType", String, OmitEmpty),
    one(10, "readOnly", Bool, OmitEmpty),
]);

pub(crate) static ScopeSelector: Message = message("k8s.io.api.core.v1.ScopeSelector", &[
    many(1, "matchExpressions", Msg(&core_v1::ScopedResourceSelectorRequirement), OmitEmpty),
]);

pub(crate) static ScopedResourceSelectorRequirement: Message = message("k8s.io.api.core.v1.ScopedResourceSelectorRequirement", &[
    one(1, "scopeName", String, Required),
    one(2, "operator", String, Required),
    many(3, "values", String, OmitEmpty),
]);

pub(crate) static SeccompProfile: Message = message("k8s.io.api.core.v1.SeccompProfile", &[
    one(1, "type", String, Required),
    one(2, "localhostProfile", String, Optional),
]);

pub(crate) static Secret: Message = object("k8s.io.api.core.v1.Secret", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    map(2, "data", Bytes, OmitEmpty),
    one(3, "type", String, OmitEmpty),
    map(4, "stringData", String, OmitEmpty),
    one(5, "immutable", Bool, Optional),
]);

pub(crate) static SecretEnvSource: Message = message("k8s.io.api.core.v1.SecretEnvSource", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    one(2, "optional", Bool, Optional),
]);

pub(crate) static SecretKeySelector: Message = message("k8s.io.api.core.v1.SecretKeySelector", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    one(2, "key", String, Required),
    one(3, "optional", Bool, Optional),
]);

pub(crate) static SecretList: Message = object("k8s.io.api.core.v1.SecretList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Secret), Items),
]);

pub(crate) static SecretProjection: Message = message("k8s.io.api.core.v1.SecretProjection", &[
    one(1, "", Msg(&core_v1::LocalObjectReference), Inline),
    many(2, "items", Msg(&core_v1::KeyToPath), OmitEmpty),
    one(4, "optional", Bool, Optional),
]);

pub(crate) static SecretReference: Message = message("k8s.io.api.core.v1.SecretReference", &[
    one(1, "name", String, OmitEmpty),
    one(2, "namespace", String, OmitEmpty),
]);

pub(crate) static SecretVolumeSource: Message = message("k8s.io.api.core.v1.SecretVolumeSource", &[
    one(1, "secretName", String, OmitEmpty),
    many(2, "items", Msg(&core_v1::KeyToPath), OmitEmpty),
    one(3, "defaultMode", Int32, Optional),
    one(4, "optional", Bool, Optional),
    one(5, "defaultUser", Int64, Optional),
]);

pub(crate) static SecurityContext: Message = message("k8s.io.api.core.v1.SecurityContext", &[
    one(1, "capabilities", Msg(&core_v1::Capabilities), Optional),
    one(2, "privileged", Bool, Optional),
    one(3, "seLinuxOptions", Msg(&core_v1::SELinuxOptions), Optional),
    one(4, "runAsUser", Int64, Optional),
    one(5, "runAsNonRoot", Bool, Optional),
    one(6, "readOnlyRootFilesystem", Bool, Optional),
    one(7, "allowPrivilegeEscalation", Bool, Optional),
    one(8, "runAsGroup", Int64, Optional),
    one(9, "procMount", String, Optional),
    one(10, "windowsOptions", Msg(&core_v1::WindowsSecurityContextOptions), Optional),
    one(11, "seccompProfile", Msg(&core_v1::SeccompProfile), Optional),
    one(12, "appArmorProfile", Msg(&core_v1::AppArmorProfile), Optional),
]);

pub(crate) static SerializedReference: Message = object("k8s.io.api.core.v1.SerializedReference", &[
    one(1, "reference", Msg(&core_v1::ObjectReference), OmitEmpty),
]);

pub(crate) static Service: Message = object("k8s.io.api.core.v1.Service", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&core_v1::ServiceSpec), OmitEmpty),
    one(3, "status", Msg(&core_v1::ServiceStatus), OmitEmpty),
]);

pub(crate) static ServiceAccount: Message = object("k8s.io.api.core.v1.ServiceAccount", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "secrets", Msg(&core_v1::ObjectReference), OmitEmpty),
    many(3, "imagePullSecrets", Msg(&core_v1::LocalObjectReference), OmitEmpty),
    one(4, "automountServiceAccountToken", Bool, Optional),
]);

pub(crate) static ServiceAccountList: Message = object("k8s.io.api.core.v1.ServiceAccountList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::ServiceAccount), Items),
]);

pub(crate) static ServiceAccountTokenProjection: Message = message("k8s.io.api.core.v1.ServiceAccountTokenProjection", &[
    one(1, "audience", String, OmitEmpty),
    one(2, "expirationSeconds", Int64, Optional),
    one(3, "path", String, Required),
    one(4, "user", Int64, Optional),
]);

pub(crate) static ServiceList: Message = object("k8s.io.api.core.v1.ServiceList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&core_v1::Service), Items),
]);

pub(crate) static ServicePort: Message = message("k8s.io.api.core.v1.ServicePort", &[
    one(1, "name", String, OmitEmpty),
    one(2, "protocol", String, OmitEmpty),
    one(3, "port", Int32, Required),
    one(4, "targetPort", Msg(&util_intstr::IntOrString), OmitEmpty),
    one(5, "nodePort", Int32, OmitEmpty),
    one(6, "appProtocol", String, Optional),
]);

pub(crate) static ServiceProxyOptions: Message = object("k8s.io.api.core.v1.ServiceProxyOptions", &[
    one(1, "path", String, OmitEmpty),
]);

pub(crate) static ServiceSpec: Message = message("k8s.io.api.core.v1.ServiceSpec", &[
    many(1, "ports", Msg(&core_v1::ServicePort), OmitEmpty),
    map(2, "selector", String, OmitEmpty),
    one(3, "clusterIP", String, OmitEmpty),
    one(4, "type", String, OmitEmpty),
    many(5, "externalIPs", String, OmitEmpty),
    one(7, "sessionAffinity", String, OmitEmpty),
    one(8, "loadBalancerIP", String, OmitEmpty),
    many(9, "loadBalancerSourceRanges", String, OmitEmpty),
    one(10, "externalName", String, OmitEmpty),
    one(11, "externalTrafficPolicy", String, OmitEmpty),
    one(12, "healthCheckNodePort", Int32, OmitEmpty),
    one(13, "publishNotReadyAddresses", Bool, OmitEmpty),
    one(14, "sessionAffinityConfig", Msg(&core_v1::SessionAffinityConfig), Optional),
    one(17, "ipFamilyPolicy", String, Optional),
    many(18, "clusterIPs", String, OmitEmpty),
    many(19, "ipFamilies", String, OmitEmpty),
    one(20, "allocateLoadBalancerNodePorts", Bool, Optional),
    one(21, "loadBalancerClass", String, Optional),
    one(22, "internalTrafficPolicy", String, Optional),
    one(23, "trafficDistribution", String, Optional),
]);

pub(crate) static ServiceStatus: Message = message("k8s.io.api.core.v1.ServiceStatus", &[
    one(1, "loadBalancer", Msg(&core_v1::LoadBalancerStatus), OmitEmpty),
    many(2, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);

pub(crate) static SessionAffinityConfig: Message = message("k8s.io.api.core.v1.SessionAffinityConfig", &[
    one(1, "clientIP", Msg(&core_v1::ClientIPConfig), Optional),
]);

pub(crate) static SleepAction: Message = message("k8s.io.api.core.v1.SleepAction", &[
    one(1, "seconds", Int64, Required),
]);

pub(crate) static StorageOSPersistentVolumeSource: Message = message("k8s.io.api.core.v1.StorageOSPersistentVolumeSource", &[
    one(1, "volumeName", String, OmitEmpty),
    one(2, "volumeNamespace", String, OmitEmpty),
    one(3, "fsType", String, OmitEmpty),
    one(4, "readOnly", Bool, OmitEmpty),
    one(5, "secretRef", Msg(&core_v1::ObjectReference), Optional),
]);

pub(crate) static StorageOSVolumeSource: Message = message("k8s.io.api.core.v1.StorageOSVolumeSource", &[
    one(1, "volumeName", String, OmitEmpty),
    one(2, "volumeNamespace", String, OmitEmpty),
    one(3, "fsType", String, OmitEmpty),
    one(4, "readOnly", Bool, OmitEmpty),
    one(5, "secretRef", Msg(&core_v1::LocalObjectReference), Optional),
]);

pub(crate) static Sysctl: Message = message("k8s.io.api.core.v1.Sysctl", &[
    one(1, "name", String, Required),
    one(2, "value", String, Required),
]);

pub(crate) static TCPSocketAction: Message = message("k8s.io.api.core.v1.TCPSocketAction", &[
    one(1, "port", Msg(&util_intstr::IntOrString), Required),
    one(2, "host", String, OmitEmpty),
]);

pub(crate) static Taint: Message = message("k8s.io.api.core.v1.Taint", &[
    one(1, "key", String, Required),
    one(2, "value", String, OmitEmpty),
    one(3, "effect", String, Required),
    one(4, "timeAdded", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static Toleration: Message = message("k8s.io.api.core.v1.Toleration", &[
    one(1, "key", String, OmitEmpty),
    one(2, "operator", String, OmitEmpty),
    one(3, "value", String, OmitEmpty),
    one(4, "effect", String, OmitEmpty),
    one(5, "tolerationSeconds", Int64, Optional),
]);

pub(crate) static TopologySelectorLabelRequirement: Message = message("k8s.io.api.core.v1.TopologySelectorLabelRequirement", &[
    one(1, "key", String, Required),
    many(2, "values", String, Required),
]);

pub(crate) static TopologySelectorTerm: Message = message("k8s.io.api.core.v1.TopologySelectorTerm", &[
    many(1, "matchLabelExpressions", Msg(&core_v1::TopologySelectorLabelRequirement), OmitEmpty),
]);

pub(crate) static TopologySpreadConstraint: Message = message("k8s.io.api.core.v1.TopologySpreadConstraint", &[
    one(1, "maxSkew", Int32, Required),
    one(2, "topologyKey", String, Required),
    one(3, "whenUnsatisfiable", String, Required),
    one(4, "labelSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(5, "minDomains", Int32, Optional),
    one(6, "nodeAffinityPolicy", String, Optional),
    one(7, "nodeTaintsPolicy", String, Optional),
    many(8, "matchLabelKeys", String, OmitEmpty),
]);

pub(crate) static TypedLocalObjectReference: Message = message("k8s.io.api.core.v1.TypedLocalObjectReference", &[
    one(1, "apiGroup", String, Nullable),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
]);

pub(crate) static TypedObjectReference: Message = message("k8s.io.api.core.v1.TypedObjectReference", &[
    one(1, "apiGroup", String, Nullable),
    one(2, "kind", String, Required),
    one(3, "name", String, Required),
    one(4, "namespace", String, Optional),
]);

pub(crate) static Volume: Message = message("k8s.io.api.core.v1.Volume", &[
    one(1, "name", String, Required),
    one(2, "", Msg(&core_v1::VolumeSource), Inline),
]);

pub(crate) static VolumeDevice: Message = message("k8s.io.api.core.v1.VolumeDevice", &[
    one(1, "name", String, Required),
    one(2, "devicePath", String, Required),
]);

pub(crate) static VolumeHealthCondition: Message = message("k8s.io.api.core.v1.VolumeHealthCondition", &[
    one(1, "status", String, Required),
    one(2, "reason", String, Required),
    one(3, "message", String, OmitEmpty),
]);

pub(crate) static VolumeHealthStatus: Message = message("k8s.io.api.core.v1.VolumeHealthStatus", &[
    many(1, "healthConditions", Msg(&core_v1::VolumeHealthCondition), OmitEmpty),
    one(2, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static VolumeMount: Message = message("k8s.io.api.core.v1.VolumeMount", &[
    one(1, "name", String, Required),
    one(2, "readOnly", Bool, OmitEmpty),
    one(3, "mountPath", String, Required),
    one(4, "subPath", String, OmitEmpty),
    one(5, "mountPropagation", String, Optional),
    one(6, "subPathExpr", String, OmitEmpty),
    one(7, "recursiveReadOnly", String, Optional),
    many(8, "bindMountOptions", String, OmitEmpty),
]);

pub(crate) static VolumeMountStatus: Message = message("k8s.io.api.core.v1.VolumeMountStatus", &[
    one(1, "name", String, Required),
    one(2, "mountPath", String, Required),
    one(3, "readOnly", Bool, OmitEmpty),
    one(4, "recursiveReadOnly", String, Optional),
    one(5, "volumeStatus", Msg(&core_v1::VolumeStatus), Optional),
]);

pub(crate) static VolumeNodeAffinity: Message = message("k8s.io.api.core.v1.VolumeNodeAffinity", &[
    one(1, "required", Msg(&core_v1::NodeSelector), Optional),
]);

pub(crate) static VolumeProjection: Message = message("k8s.io.api.core.v1.VolumeProjection", &[
    one(1, "secret", Msg(&core_v1::SecretProjection), Optional),
    one(2, "downwardAPI", Msg(&core_v1::DownwardAPIProjection), Optional),
    one(3, "configMap", Msg(&core_v1::ConfigMapProjection), Optional),
    one(4, "serviceAccountToken", Msg(&core_v1::ServiceAccountTokenProjection), Optional),
    one(5, "clusterTrustBundle", Msg(&core_v1::ClusterTrustBundleProjection), Optional),
    one(6, "podCertificate", Msg(&core_v1::PodCertificateProjection), Optional),
]);

pub(crate) static VolumeResourceRequirements: Message = message("k8s.io.api.core.v1.VolumeResourceRequirements", &[
    map(1, "limits", Msg(&api_resource::Quantity), OmitEmpty),
    map(2, "requests", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static VolumeSource: Message = message("k8s.io.api.core.v1.VolumeSource", &[
    one(1, "hostPath", Msg(&core_v1::HostPathVolumeSource), Optional),
    one(2, "emptyDir", Msg(&core_v1::EmptyDirVolumeSource), Optional),
    one(3, "gcePersistentDisk", Msg(&core_v1::GCEPersistentDiskVolumeSource), Optional),
    one(4, "awsElasticBlockStore", Msg(&core_v1::AWSElasticBlockStoreVolumeSource), Optional),
    one(5, "gitRepo", Msg(&core_v1::GitRepoVolumeSource), Optional),
    one(6, "secret", Msg(&core_v1::SecretVolumeSource), Optional),
    one(7, "nfs", Msg(&core_v1::NFSVolumeSource), Optional),
    one(8, "iscsi", Msg(&core_v1::ISCSIVolumeSource), Optional),
    one(9, "glusterfs", Msg(&core_v1::GlusterfsVolumeSource), Optional),
    one(10, "persistentVolumeClaim", Msg(&core_v1::PersistentVolumeClaimVolumeSource), Optional),
    one(11, "rbd", Msg(&core_v1::RBDVolumeSource), Optional),
    one(12, "flexVolume", Msg(&core_v1::FlexVolumeSource), Optional),
    one(13, "cinder", Msg(&core_v1::CinderVolumeSource), Optional),
    one(14, "cephfs", Msg(&core_v1::CephFSVolumeSource), Optional),
    one(15, "flocker", Msg(&core_v1::FlockerVolumeSource), Optional),
    one(16, "downwardAPI", Msg(&core_v1::DownwardAPIVolumeSource), Optional),
    one(17, "fc", Msg(&core_v1::FCVolumeSource), Optional),
    one(18, "azureFile", Msg(&core_v1::AzureFileVolumeSource), Optional),
    one(19, "configMap", Msg(&core_v1::ConfigMapVolumeSource), Optional),
    one(20, "vsphereVolume", Msg(&core_v1::VsphereVirtualDiskVolumeSource), Optional),
    one(21, "quobyte", Msg(&core_v1::QuobyteVolumeSource), Optional),
    one(22, "azureDisk", Msg(&core_v1::AzureDiskVolumeSource), Optional),
    one(23, "photonPersistentDisk", Msg(&core_v1::PhotonPersistentDiskVolumeSource), Optional),
    one(24, "portworxVolume", Msg(&core_v1::PortworxVolumeSource), Optional),
    one(25, "scaleIO", Msg(&core_v1::ScaleIOVolumeSource), Optional),
    one(26, "projected", Msg(&core_v1::ProjectedVolumeSource), Optional),
    one(27, "storageos", Msg(&core_v1::StorageOSVolumeSource), Optional),
    one(28, "csi", Msg(&core_v1::CSIVolumeSource), Optional),
    one(29, "ephemeral", Msg(&core_v1::EphemeralVolumeSource), Optional),
    one(30, "image", Msg(&core_v1::ImageVolumeSource), Optional),
]);

pub(crate) static VolumeStatus: Message = message("k8s.io.api.core.v1.VolumeStatus", &[
    one(1, "image", Msg(&core_v1::ImageVolumeStatus), Optional),
]);

pub(crate) static VsphereVirtualDiskVolumeSource: Message = message("k8s.io.api.core.v1.VsphereVirtualDiskVolumeSource", &[
    one(1, "volumePath", String, Required),
    one(2, "fsType", String, OmitEmpty),
    one(3, "storagePolicyName", String, OmitEmpty),
    one(4, "storagePolicyID", String, OmitEmpty),
]);

pub(crate) static WeightedPodAffinityTerm: Message = message("k8s.io.api.core.v1.WeightedPodAffinityTerm", &[
    one(1, "weight", Int32, Required),
    one(2, "podAffinityTerm", Msg(&core_v1::PodAffinityTerm), Required),
]);

pub(crate) static WindowsSecurityContextOptions: Message = message("k8s.io.api.core.v1.WindowsSecurityContextOptions", &[
    one(1, "gmsaCredentialSpecName", String, Optional),
    one(2, "gmsaCredentialSpec", String, Optional),
    one(3, "runAsUserName", String, Optional),
    one(4, "hostProcess", Bool, Optional),
]);
