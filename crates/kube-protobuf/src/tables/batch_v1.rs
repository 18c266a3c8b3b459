//! The messages of `k8s.io.api.batch.v1`.

use super::*;

pub(crate) static CronJob: Message = object("k8s.io.api.batch.v1.CronJob", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&batch_v1::CronJobSpec), OmitEmpty),
    one(3, "status", Msg(&batch_v1::CronJobStatus), OmitEmpty),
]);

pub(crate) static CronJobList: Message = object("k8s.io.api.batch.v1.CronJobList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&batch_v1::CronJob), Items),
]);

pub(crate) static CronJobSpec: Message = message("k8s.io.api.batch.v1.CronJobSpec", &[
    one(1, "schedule", String, Required),
    one(2, "startingDeadlineSeconds", Int64, Optional),
    one(3, "concurrencyPolicy", String, OmitEmpty),
    one(4, "suspend", Bool, Optional),
    one(5, "jobTemplate", Msg(&batch_v1::JobTemplateSpec), Required),
    one(6, "successfulJobsHistoryLimit", Int32, Optional),
    one(7, "failedJobsHistoryLimit", Int32, Optional),
    one(8, "timeZone", String, Optional),
]);

pub(crate) static CronJobStatus: Message = message("k8s.io.api.batch.v1.CronJobStatus", &[
    many(1, "active", Msg(&core_v1::ObjectReference), OmitEmpty),
    one(4, "lastScheduleTime", Msg(&meta_v1::Time), Optional),
    one(5, "lastSuccessfulTime", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static Job: Message = object("k8s.io.api.batch.v1.Job", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&batch_v1::JobSpec), OmitEmpty),
    one(3, "status", Msg(&batch_v1::JobStatus), OmitEmpty),
]);

pub(crate) static JobCondition: Message = message("k8s.io.api.batch.v1.JobCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastProbeTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, OmitEmpty),
    one(6, "message", String, OmitEmpty),
]);

pub(crate) static JobList: Message = object("k8s.io.api.batch.v1.JobList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&batch_v1::Job), Items),
]);

pub(crate) static JobSchedulingConfiguration: Message = message("k8s.io.api.batch.v1.JobSchedulingConfiguration", &[
    one(1, "schedulingPolicy", Msg(&scheduling_v1alpha3::WorkloadPodGroupSchedulingPolicy), Optional),
    one(2, "schedulingConstraints", Msg(&scheduling_v1alpha3::WorkloadPodGroupSchedulingConstraints), Optional),
    one(3, "disruptionMode", Msg(&scheduling_v1alpha3::WorkloadPodGroupDisruptionMode), Optional),
    many(4, "resourceClaims", Msg(&scheduling_v1alpha3::WorkloadPodGroupResourceClaim), OmitEmpty),
]);

pub(crate) static JobSpec: Message = message("k8s.io.api.batch.v1.JobSpec", &[
    one(1, "parallelism", Int32, Optional),
    one(2, "completions", Int32, Optional),
    one(3, "activeDeadlineSeconds", Int64, Optional),
    one(4, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(5, "manualSelector", Bool, Optional),
    one(6, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(7, "backoffLimit", Int32, Optional),
    one(8, "ttlSecondsAfterFinished", Int32, Optional),
    one(9, "completionMode", String, Optional),
    one(10, "suspend", Bool, Optional),
    one(11, "podFailurePolicy", Msg(&batch_v1::PodFailurePolicy), Optional),
    one(12, "backoffLimitPerIndex", Int32, Optional),
    one(13, "maxFailedIndexes", Int32, Optional),
    one(14, "podReplacementPolicy", String, Optional),
    one(15, "managedBy", String, Optional),
    one(16, "successPolicy", Msg(&batch_v1::SuccessPolicy), Optional),
    one(17, "scheduling", Msg(&batch_v1::JobSchedulingConfiguration), Optional),
]);

pub(crate) static JobStatus: Message = message("k8s.io.api.batch.v1.JobStatus", &[
    many(1, "conditions", Msg(&batch_v1::JobCondition), OmitEmpty),
    one(2, "startTime", Msg(&meta_v1::Time), Optional),
    one(3, "completionTime", Msg(&meta_v1::Time), Optional),
    one(4, "active", Int32, OmitEmpty),
    one(5, "succeeded", Int32, OmitEmpty),
    one(6, "failed", Int32, OmitEmpty),
    one(7, "completedIndexes", String, OmitEmpty),
    one(8, "uncountedTerminatedPods", Msg(&batch_v1::UncountedTerminatedPods), Optional),
    one(9, "ready", Int32, Optional),
    one(10, "failedIndexes", String, Optional),
    one(11, "terminating", Int32, Optional),
]);

pub(crate) static JobTemplateSpec: Message = message("k8s.io.api.batch.v1.JobTemplateSpec", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&batch_v1::JobSpec), OmitEmpty),
]);

pub(crate) static PodFailurePolicy: Message = message("k8s.io.api.batch.v1.PodFailurePolicy", &[
    many(1, "rules", Msg(&batch_v1::PodFailurePolicyRule), Required),
]);

pub(crate) static PodFailurePolicyOnExitCodesRequirement: Message = message("k8s.io.api.batch.v1.PodFailurePolicyOnExitCodesRequirement", &[
    one(1, "containerName", String, Optional),
    one(2, "operator", String, Required),
    many(3, "values", Int32, Required),
]);

pub(crate) static PodFailurePolicyOnPodConditionsPattern: Message = message("k8s.io.api.batch.v1.PodFailurePolicyOnPodConditionsPattern", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
]);

pub(crate) static PodFailurePolicyRule: Message = message("k8s.io.api.batch.v1.PodFailurePolicyRule", &[
    one(1, "action", String, Required),
    one(2, "onExitCodes", Msg(&batch_v1::PodFailurePolicyOnExitCodesRequirement), Optional),
    many(3, "onPodConditions", Msg(&batch_v1::PodFailurePolicyOnPodConditionsPattern), OmitEmpty),
]);

pub(crate) static SuccessPolicy: Message = message("k8s.io.api.batch.v1.SuccessPolicy", &[
    many(1, "rules", Msg(&batch_v1::SuccessPolicyRule), Required),
]);

pub(crate) static SuccessPolicyRule: Message = message("k8s.io.api.batch.v1.SuccessPolicyRule", &[
    one(1, "succeededIndexes", String, Optional),
    one(2, "succeededCount", Int32, Optional),
]);

pub(crate) static UncountedTerminatedPods: Message = message("k8s.io.api.batch.v1.UncountedTerminatedPods", &[
    many(1, "succeeded", String, OmitEmpty),
    many(2, "failed", String, OmitEmpty),
]);
