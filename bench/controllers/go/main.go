// One controller of the bench: "controllers nothing|pods URL OBJECTS" is controller-runtime's, with its defaults. It does what
// the Rust client beside it does, and prints the same lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	who      = "controller-runtime"
	rounds   = 10
	patience = 300 * time.Second
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: controllers nothing|pods URL OBJECTS")
		os.Exit(2)
	}
	url, objects := os.Args[2], number(os.Args[3])
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	manager, err := ctrl.NewManager(&rest.Config{Host: url}, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
	})
	must(err)
	switch os.Args[1] {
	case "nothing":
		nothing(manager, objects)
	case "pods":
		pods(manager, url, objects)
	default:
		fail("no job is called " + os.Args[1])
	}
}

// nothing measures reconciles of nothing, from the first to the last. Each reads its object, which the Rust controllers are given.
func nothing(manager ctrl.Manager, objects int64) {
	var count atomic.Int64
	var first time.Time
	var cpu time.Duration
	last, done := objects*rounds, make(chan struct{})
	reader := manager.GetClient()
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var object corev1.ConfigMap
		if err := reader.Get(ctx, request.NamespacedName, &object); err != nil {
			return reconcile.Result{}, err
		}
		run := count.Add(1)
		if run == 1 {
			first, cpu = time.Now(), cpuTime()
		}
		if run == last {
			close(done)
		}
		if run < last {
			return reconcile.Result{RequeueAfter: time.Nanosecond}, nil
		}
		return reconcile.Result{}, nil
	})
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(reconciler))
	go func() { must(manager.Start(context.Background())) }()
	select {
	case <-done:
	case <-time.After(patience):
		fail(fmt.Sprintf("%d reconciles of %d", count.Load(), last))
	}
	wall, spent := time.Since(first), cpuTime()-cpu
	write(map[string]any{
		"who": who, "job": "nothing", "reconciles": last,
		"per_s": float64(last) / wall.Seconds(), "per_cpu_s": float64(last) / spent.Seconds(),
	})
}

type latencies struct {
	mutex sync.Mutex
	told  map[string]time.Time
	// Since the server changed the pod, and since the controller was told of it.
	sinceChange, sinceTold []time.Duration
	count                  atomic.Int64
}

func (l *latencies) tell(object client.Object) {
	key := object.GetNamespace() + "/" + object.GetName()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.told[key] = time.Now()
}

func (l *latencies) reconciled(pod *corev1.Pod) {
	now := time.Now()
	l.count.Add(1)
	key := pod.Namespace + "/" + pod.Name
	l.mutex.Lock()
	defer l.mutex.Unlock()
	told, found := l.told[key]
	delete(l.told, key)
	at, err := strconv.ParseInt(pod.Annotations["bench/at"], 10, 64)
	if !found || err != nil {
		return
	}
	l.sinceChange = append(l.sinceChange, now.Sub(time.Unix(0, at)))
	l.sinceTold = append(l.sinceTold, now.Sub(told))
}

// pods measures a controller of pods: its memory, then how late it is.
func pods(manager ctrl.Manager, url string, objects int64) {
	l := &latencies{told: map[string]time.Time{}}
	reader := manager.GetClient()
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var pod corev1.Pod
		if err := reader.Get(ctx, request.NamespacedName, &pod); err != nil {
			return reconcile.Result{}, err
		}
		l.reconciled(&pod)
		return reconcile.Result{}, nil
	})
	told := predicate.Funcs{
		CreateFunc: func(event event.CreateEvent) bool { l.tell(event.Object); return true },
		UpdateFunc: func(event event.UpdateEvent) bool { l.tell(event.ObjectNew); return true },
	}
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).WithEventFilter(told).Complete(reconciler))
	go func() { must(manager.Start(context.Background())) }()
	for begun := time.Now(); l.count.Load() < objects; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > patience {
			fail(fmt.Sprintf("%d pods of %d", l.count.Load(), objects))
		}
	}
	atRest()
	write(map[string]any{"who": who, "job": "pods", "phase": "settled", "rss_mib": rss(), "cpu_s": cpuTime().Seconds()})
	for _, phase := range []struct {
		name          string
		rate, changes int
	}{{"rest", 20, 300}, {"load", 1000, 15000}} {
		l.mutex.Lock()
		l.sinceChange, l.sinceTold = nil, nil
		l.mutex.Unlock()
		cpu := cpuTime()
		response, err := http.Post(fmt.Sprintf("%s/bench/churn?changes=%d&rate=%d&stamp=1", url, phase.changes, phase.rate), "", nil)
		must(err)
		must(response.Body.Close())
		until := time.Now().Add(time.Duration(phase.changes/phase.rate+20) * time.Second)
		for seen := 0; seen < phase.changes && time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
			l.mutex.Lock()
			seen = len(l.sinceTold)
			l.mutex.Unlock()
		}
		atRest()
		spent := cpuTime() - cpu
		l.mutex.Lock()
		write(map[string]any{
			"who": who, "job": "pods", "phase": phase.name, "reconciles": len(l.sinceTold), "changes": phase.changes,
			"told_us": percentiles(l.sinceTold), "change_us": percentiles(l.sinceChange),
			"cpu_us": spent.Seconds() * 1e6 / float64(phase.changes), "rss_mib": rss(),
		})
		l.mutex.Unlock()
	}
}

// percentiles are the 50th and the 99th, in microseconds.
func percentiles(late []time.Duration) [2]float64 {
	if len(late) == 0 {
		fail("no pod was reconciled that says when it changed")
	}
	slices.Sort(late)
	at := func(part float64) float64 { return late[int(float64(len(late))*part)].Seconds() * 1e6 }
	return [2]float64{at(0.5), at(0.99)}
}

// atRest returns when next to no CPU time was used for a second, at the latest after 15.
func atRest() {
	calm, before := 0, cpuTime()
	for range 60 {
		time.Sleep(250 * time.Millisecond)
		now := cpuTime()
		if now-before < 5*time.Millisecond {
			calm++
		} else {
			calm = 0
		}
		before = now
		if calm == 4 {
			return
		}
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// rss is the resident memory, in MiB.
func rss() float64 {
	status, err := os.Open("/proc/self/status")
	must(err)
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "VmRSS:"); found {
			return float64(number(strings.Fields(rest)[0])) / 1024
		}
	}
	fail("VmRSS is missing")
	return 0
}

func write(line map[string]any) {
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "controller-runtime:", message)
	os.Exit(1)
}
