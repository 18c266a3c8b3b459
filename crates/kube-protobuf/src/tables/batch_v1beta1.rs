//! The messages of `k8s.io.api.batch.v1beta1`.

use super::*;

pub(crate) static CronJob: Message = object("k8s.io.api.batch.v1beta1.CronJob", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&batch_v1beta1::CronJobSpec), OmitEmpty),
    one(3, "status", Msg(&batch_v1beta1::CronJobStatus), OmitEmpty),
]);

pub(crate) static CronJobList: Message = object("k8s.io.api.batch.v1beta1.CronJobList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&batch_v1beta1::CronJob), Items),
]);

pub(crate) static CronJobSpec: Message = message("k8s.io.api.batch.v1beta1.CronJobSpec", &[
    one(1, "schedule", String, Required),
    one(2, "startingDeadlineSeconds", Int64, Optional),
    one(3, "concurrencyPolicy", String, OmitEmpty),
    one(4, "suspend", Bool, Optional),
    one(5, "jobTemplate", Msg(&batch_v1beta1::JobTemplateSpec), Required),
    one(6, "successfulJobsHistoryLimit", Int32, Optional),
    one(7, "failedJobsHistoryLimit", Int32, Optional),
    one(8, "timeZone", String, Optional),
]);

pub(crate) static CronJobStatus: Message = message("k8s.io.api.batch.v1beta1.CronJobStatus", &[
    many(1, "active", Msg(&core_v1::ObjectReference), OmitEmpty),
    one(4, "lastScheduleTime", Msg(&meta_v1::Time), Optional),
    one(5, "lastSuccessfulTime", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static JobTemplateSpec: Message = message("k8s.io.api.batch.v1beta1.JobTemplateSpec", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&batch_v1::JobSpec), OmitEmpty),
]);
