// Measures client-go's shared informer: "client-go FORM LIST API CONTROL PODS CHANGES RATE PHASE...", as the Rust client
// beside it does, with the same phases and the same output. FORM is client-go, which asks for JSON, client-go-protobuf,
// which asks for what client-go does by itself, or controller-runtime, which is its cache with its defaults.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// When it gives up: a phase takes minutes at most.
	patience = 900 * time.Second
	// The namespace of the pod that the server changes last in each phase.
	mark = "zz-mark/"
)

// What the one handler does: it takes the key and counts.
var notifications, marks atomic.Int64

// How late the notifications are, while it is asked.
var (
	timed atomic.Bool
	mutex sync.Mutex
	late  []time.Duration
)

func count(object any) {
	if timed.Load() {
		now := time.Now()
		if pod, isPod := object.(*corev1.Pod); isPod {
			if at, err := strconv.ParseInt(pod.Annotations["bench/at"], 10, 64); err == nil {
				mutex.Lock()
				late = append(late, now.Sub(time.Unix(0, at)))
				mutex.Unlock()
			}
		}
	}
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	must(err)
	notifications.Add(1)
	if strings.HasPrefix(key, mark) {
		marks.Add(1)
	}
}

func main() {
	if len(os.Args) < 8 {
		fmt.Fprintln(os.Stderr, "usage: client-go FORM stream|list API CONTROL PODS CHANGES RATE PHASE...")
		os.Exit(2)
	}
	form, list, api, control := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	pods, changes, rate := number(os.Args[5]), number(os.Args[6]), number(os.Args[7])
	// Read when the first client is made.
	must(os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(list == "stream")))

	config, err := reach(api)
	must(err)
	config.QPS = -1
	if form == "client-go" {
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	}
	var cached cachedPods
	if form == "controller-runtime" {
		cached = managed(config)
	} else {
		cached = shared(config)
	}

	m := measurement{form: form, list: list, control: control, pods: pods}
	print(m.phase("sync", pods, 0, func() {}))
	for _, phase := range os.Args[8:] {
		switch phase {
		case "churn":
			print(m.changes(phase, changes, rate, ""))
		case "burst":
			print(m.changes(phase, changes, 0, ""))
		case "latency":
			print(m.latency(phase, changes, rate))
		case "reads":
			print(m.reads(cached, changes, rate))
		case "relist":
			lists := m.lists()
			print(m.phase(phase, 0, cpuTime(), func() { m.post("/bench/expire") }))
			if lists == m.lists() {
				fail("there was no relist")
			}
		default:
			fail("no phase is called " + phase)
		}
	}
	if kept := len(cached.keys()); kept != int(pods)+1 {
		fail(fmt.Sprintf("the store is not complete: %d of %d", kept, pods+1))
	}
}

// What is read of a cache of pods.
type cachedPods struct {
	keys func() []string
	// Looks a pod up and returns its node.
	node func(key string) string
}

var handler = cache.ResourceEventHandlerFuncs{
	AddFunc:    count,
	UpdateFunc: func(_, object any) { count(object) },
	DeleteFunc: count,
}

// shared is client-go's shared informer.
func shared(config *rest.Config) cachedPods {
	client, err := kubernetes.NewForConfig(config)
	must(err)
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(handler)
	must(err)
	factory.Start(make(chan struct{}))
	return cachedPods{keys: informer.GetStore().ListKeys, node: func(key string) string {
		object, found, err := informer.GetStore().GetByKey(key)
		must(err)
		if !found {
			fail("no pod " + key)
		}
		return object.(*corev1.Pod).Spec.NodeName
	}}
}

// managed is controller-runtime's cache, which copies each object that is read.
func managed(config *rest.Config) cachedPods {
	config.QPS = -1
	ctrllog.SetLogger(logr.Discard())
	pods, err := ctrlcache.New(config, ctrlcache.Options{})
	must(err)
	ctx := context.Background()
	go func() { must(pods.Start(ctx)) }()
	informer, err := pods.GetInformer(ctx, &corev1.Pod{}, ctrlcache.BlockUntilSynced(false))
	must(err)
	_, err = informer.AddEventHandler(handler)
	must(err)
	return cachedPods{
		keys: func() []string {
			var list corev1.PodList
			must(pods.List(ctx, &list, ctrlclient.UnsafeDisableDeepCopy))
			keys := make([]string, 0, len(list.Items))
			for i := range list.Items {
				keys = append(keys, list.Items[i].Namespace+"/"+list.Items[i].Name)
			}
			return keys
		},
		node: func(key string) string {
			namespace, name, _ := strings.Cut(key, "/")
			var pod corev1.Pod
			must(pods.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &pod))
			return pod.Spec.NodeName
		},
	}
}

// reach is how the API is reached: at a URL, or as a kubeconfig file says.
func reach(api string) (*rest.Config, error) {
	if strings.HasPrefix(api, "http://") {
		return &rest.Config{Host: api}, nil
	}
	return clientcmd.BuildConfigFromFlags("", api)
}

type measurement struct {
	form, list, control string
	pods                int64
}

func (m *measurement) changes(phase string, changes, rate int64, options string) figures {
	path := fmt.Sprintf("/bench/churn?changes=%d&rate=%d%s", changes, rate, options)
	return m.phase(phase, changes, cpuTime(), func() { m.post(path) })
}

// latency measures how late the handler is told of changes.
func (m *measurement) latency(phase string, changes, rate int64) figures {
	late = nil
	timed.Store(true)
	figures := m.changes(phase, changes, rate, "&stamp=1")
	timed.Store(false)
	mutex.Lock()
	defer mutex.Unlock()
	figures["late_us"] = percentiles(late)
	return figures
}

// reads measures the same while two goroutines read as fast as they can, until the mark has come.
func (m *measurement) reads(cached cachedPods, changes, rate int64) figures {
	keys, marked, begun := cached.keys(), marks.Load(), time.Now()
	type result struct {
		reads int
		took  time.Duration
		times []time.Duration
	}
	results := make(chan result)
	for start := range 2 {
		go func() {
			var r result
			for ; marks.Load() == marked; r.reads++ {
				key := keys[uint64(start*1_000_003+r.reads)*2_654_435_761%uint64(len(keys))]
				if r.reads%61 != 0 {
					cached.node(key)
					continue
				}
				at := time.Now()
				cached.node(key)
				r.times = append(r.times, time.Since(at))
			}
			r.took = time.Since(begun)
			results <- r
		}()
	}
	figures := m.latency("reads", changes, rate)
	one, two := <-results, <-results
	figures["reads_per_s"] = math.Round(float64(one.reads+two.reads) / max(one.took, two.took).Seconds())
	figures["read_us"] = percentiles(append(one.times, two.times...))
	return figures
}

// percentiles are the 50th and the 99th, in microseconds.
func percentiles(times []time.Duration) [2]float64 {
	if len(times) == 0 {
		fail("nothing was timed")
	}
	slices.Sort(times)
	at := func(part float64) float64 { return times[int(float64(len(times))*part)].Seconds() * 1e6 }
	return [2]float64{at(0.5), at(0.99)}
}

// What a phase cost: a line of JSON.
type figures map[string]any

func print(figures figures) {
	line, err := json.Marshal(figures)
	must(err)
	fmt.Println(string(line))
}

// phase waits until the handler was told of the expected objects and of the mark, and the process has come to rest.
func (m *measurement) phase(name string, expected int64, cpu time.Duration, begin func()) figures {
	told, marked := notifications.Load(), marks.Load()
	if name == "sync" {
		// From the start of the process; its first objects may have come already.
		told, marked = 0, 0
	} else {
		must(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	}
	server := serverCPU()
	started := time.Now()
	begin()
	for marks.Load() <= marked || notifications.Load() <= told+expected {
		if time.Since(started) > patience {
			fail(fmt.Sprintf("%s: told of %d of %d", name, notifications.Load()-told, expected))
		}
		time.Sleep(20 * time.Millisecond)
	}
	wall := time.Since(started)
	server = serverCPU() - server
	atRest()
	spent := cpuTime() - cpu
	rss, peak := memory()
	figures := figures{
		"form": m.form, "list": m.list, "pods": m.pods, "phase": name, "changes": expected,
		"wall_s": rounded(wall.Seconds()), "cpu_s": rounded(spent.Seconds()), "rss_mib": rounded(rss),
		"peak_mib": rounded(peak),
	}
	if os.Getenv("API_PID") != "" {
		figures["server_cpu_s"] = rounded(server)
	}
	return figures
}

func (m *measurement) post(path string) {
	response, err := http.Post(m.control+path, "", nil)
	must(err)
	read(response)
}

func (m *measurement) lists() string {
	response, err := http.Get(m.control + "/bench/lists")
	must(err)
	return read(response)
}

func read(response *http.Response) string {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(err)
	if response.StatusCode != http.StatusOK {
		fail(response.Status)
	}
	return string(body)
}

// atRest returns when next to no CPU time was used for a second; what is done late, such as collecting garbage, belongs to
// the phase.
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

// serverCPU is the CPU time of the API server in seconds, whose process the variable API_PID names.
func serverCPU() float64 {
	pid := os.Getenv("API_PID")
	if pid == "" {
		return 0
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	must(err)
	// The name, in brackets, may have spaces in it. Linux shows hundredths of a second.
	fields := strings.Fields(string(stat)[strings.LastIndex(string(stat), ")")+1:])
	return float64(number(fields[11])+number(fields[12])) / 100
}

// memory is the resident memory now, and the most since the peak was reset, in MiB.
func memory() (rss, peak float64) {
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	field := func(name string) float64 {
		for line := range strings.Lines(string(status)) {
			if rest, found := strings.CutPrefix(line, name); found {
				return float64(number(strings.Fields(rest)[0])) / 1024
			}
		}
		fail(name + " is missing")
		return 0
	}
	return field("VmRSS:"), field("VmHWM:")
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func rounded(value float64) float64 { return math.Round(value*1000) / 1000 }

func must(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "client-go:", message)
	os.Exit(1)
}
