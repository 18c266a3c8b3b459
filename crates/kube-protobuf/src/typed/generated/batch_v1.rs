//! The structs of `api::batch::v1`.

use super::*;
use k8s_openapi::api::batch::v1 as k8s;

impl Message for k8s::CronJob {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_35! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CronJobSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(5, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.schedule, input),
            2 => some(&mut self.starting_deadline_seconds, input),
            3 => some_unless_empty(&mut self.concurrency_policy, input),
            4 => some(&mut self.suspend, input),
            5 => message(&mut self.job_template, input),
            6 => some(&mut self.successful_jobs_history_limit, input),
            7 => some(&mut self.failed_jobs_history_limit, input),
            8 => some(&mut self.time_zone, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CronJobStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.active, &input), input),
            4 => some_time(&mut self.last_schedule_time, input),
            5 => some_time(&mut self.last_successful_time, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Job {
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

impl Message for k8s::JobCondition {
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

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::JobSchedulingConfiguration {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.scheduling_policy.get_or_insert_default(), input),
            2 => message(self.scheduling_constraints.get_or_insert_default(), input),
            3 => message(self.disruption_mode.get_or_insert_default(), input),
            4 => push_message(room(&mut self.resource_claims, &input), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::JobSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(6, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.parallelism, input),
            2 => some(&mut self.completions, input),
            3 => some(&mut self.active_deadline_seconds, input),
            4 => message(self.selector.get_or_insert_default(), input),
            5 => some(&mut self.manual_selector, input),
            6 => message(&mut self.template, input),
            7 => some(&mut self.backoff_limit, input),
            8 => some(&mut self.ttl_seconds_after_finished, input),
            9 => some(&mut self.completion_mode, input),
            10 => some(&mut self.suspend, input),
            11 => message(self.pod_failure_policy.get_or_insert_default(), input),
            12 => some(&mut self.backoff_limit_per_index, input),
            13 => some(&mut self.max_failed_indexes, input),
            14 => some(&mut self.pod_replacement_policy, input),
            15 => some(&mut self.managed_by, input),
            16 => message(self.success_policy.get_or_insert_default(), input),
            17 => { k8s_openapi::k8s_if_ge_1_37! { return message(self.scheduling.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::batch_v1::JobSchedulingConfiguration, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::JobStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            2 => some_time(&mut self.start_time, input),
            3 => some_time(&mut self.completion_time, input),
            4 => some_unless_empty(&mut self.active, input),
            5 => some_unless_empty(&mut self.succeeded, input),
            6 => some_unless_empty(&mut self.failed, input),
            7 => some_unless_empty(&mut self.completed_indexes, input),
            8 => message(self.uncounted_terminated_pods.get_or_insert_default(), input),
            9 => some(&mut self.ready, input),
            10 => some(&mut self.failed_indexes, input),
            11 => some(&mut self.terminating, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::JobTemplateSpec {
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

impl Message for k8s::PodFailurePolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.rules, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodFailurePolicyOnExitCodesRequirement {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.container_name, input),
            2 => set(&mut self.operator, input),
            3 => push(reserve(&mut self.values, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodFailurePolicyOnPodConditionsPattern {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => { k8s_openapi::k8s_if_le_1_34! { return set(&mut self.status, input); } k8s_openapi::k8s_if_ge_1_35! { return some(&mut self.status, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodFailurePolicyRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.action, input),
            2 => message(self.on_exit_codes.get_or_insert_default(), input),
            3 => push_message(room(&mut self.on_pod_conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SuccessPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(reserve(&mut self.rules, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::SuccessPolicyRule {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.succeeded_indexes, input),
            2 => some(&mut self.succeeded_count, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::UncountedTerminatedPods {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.succeeded, &input), input),
            2 => push(room(&mut self.failed, &input), input),
            _ => Some(()),
        }
    }
}
