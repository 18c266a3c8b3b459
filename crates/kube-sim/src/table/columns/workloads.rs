//! Columns of what runs pods.

use serde_json::Value;

use super::{
    AGE, CONTAINERS, CURRENT, Column, DEFAULT, DESIRED, IMAGES, NAME, READY, READY_OF_DESIRED, SELECTOR,
    boolean, integer, string, wide,
};
use crate::table::cells;
use crate::table::row::{or, shown};

pub(super) fn of(plural: &str) -> &'static [Column] {
    const CRON_TEMPLATE: &str = "/spec/jobTemplate/spec/template/spec/containers";
    match plural {
        "controllerrevisions" => {
            const {
                &[
                    NAME,
                    string("Controller", cells::controller),
                    string("Revision", |row| row.number("/revision").into()),
                    AGE,
                ]
            }
        }
        "daemonsets" => {
            const {
                &[
                    NAME,
                    integer("Desired", |row| {
                        row.number("/status/desiredNumberScheduled").into()
                    }),
                    integer("Current", |row| {
                        row.number("/status/currentNumberScheduled").into()
                    }),
                    integer("Ready", |row| row.number("/status/numberReady").into()),
                    integer("Up-to-date", |row| {
                        row.number("/status/updatedNumberScheduled").into()
                    }),
                    integer("Available", |row| row.number("/status/numberAvailable").into()),
                    string("Node Selector", |row| {
                        cells::labels(row.get("/spec/template/spec/nodeSelector"))
                    }),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    SELECTOR,
                ]
            }
        }
        "deployments" => {
            const {
                &[
                    NAME,
                    READY_OF_DESIRED,
                    string("Up-to-date", |row| row.number("/status/updatedReplicas").into()),
                    string("Available", |row| row.number("/status/availableReplicas").into()),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    wide("Selector", |row| {
                        cells::requirements(row.get("/spec/selector")).into()
                    }),
                ]
            }
        }
        "replicasets" => const { &[NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR] },
        "statefulsets" => const { &[NAME, READY_OF_DESIRED, AGE, CONTAINERS, IMAGES] },
        "horizontalpodautoscalers" => {
            const {
                &[
                    NAME,
                    string("Reference", |row| {
                        let (kind, name) = (
                            row.text("/spec/scaleTargetRef/kind"),
                            row.text("/spec/scaleTargetRef/name"),
                        );
                        format!("{kind}/{name}").into()
                    }),
                    string("Targets", cells::metrics),
                    string("MinPods", |row| {
                        shown(row.get("/spec/minReplicas"), "<unset>").into()
                    }),
                    string("MaxPods", |row| row.number("/spec/maxReplicas").into()),
                    string("Replicas", |row| row.number("/status/currentReplicas").into()),
                    AGE,
                ]
            }
        }
        "cronjobs" => {
            const {
                &[
                    NAME,
                    string("Schedule", |row| row.text("/spec/schedule").into()),
                    string("Timezone", |row| or(row.text("/spec/timeZone"), "<none>").into()),
                    boolean("Suspend", |row| {
                        match row.get("/spec/suspend").and_then(Value::as_bool) {
                            Some(true) => "True".into(),
                            Some(false) => "False".into(),
                            None => "<unset>".into(),
                        }
                    }),
                    integer("Active", |row| row.length("/status/active").into()),
                    string("Last Schedule", |row| {
                        match row.text("/status/lastScheduleTime") {
                            "" => "<none>".into(),
                            time => row.age(time).into(),
                        }
                    }),
                    AGE,
                    wide("Containers", |row| row.each(CRON_TEMPLATE, "name").into()),
                    wide("Images", |row| row.each(CRON_TEMPLATE, "image").into()),
                    wide("Selector", |row| {
                        cells::selector(row.get("/spec/jobTemplate/spec/selector"))
                    }),
                ]
            }
        }
        "jobs" => {
            const {
                &[
                    NAME,
                    string("Status", cells::job_status),
                    string("Completions", cells::completions),
                    string("Duration", cells::job_duration),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    SELECTOR,
                ]
            }
        }
        "poddisruptionbudgets" => {
            const {
                &[
                    NAME,
                    string("Min Available", |row| {
                        shown(row.get("/spec/minAvailable"), "N/A").into()
                    }),
                    string("Max Unavailable", |row| {
                        shown(row.get("/spec/maxUnavailable"), "N/A").into()
                    }),
                    integer("Allowed Disruptions", |row| {
                        row.number("/status/disruptionsAllowed").into()
                    }),
                    AGE,
                ]
            }
        }
        _ => DEFAULT,
    }
}
