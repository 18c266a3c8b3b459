// The oracle runs client-go's informer on a resource and prints what its handler is told, one line of JSON for each
// notification, in the form of `kubectl informer watch -o json --show-object`.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// line is one notification, or news of another kind.
type line struct {
	Event              string `json:"event"`
	Key                string `json:"key,omitempty"`
	OldResourceVersion string `json:"oldResourceVersion,omitempty"`
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	Initial            bool   `json:"initial,omitempty"`
	Tombstone          bool   `json:"tombstone,omitempty"`
	Message            string `json:"message,omitempty"`
	Object             any    `json:"object,omitempty"`
}

// printer prints lines; the handler and others share it.
type printer struct {
	lock       sync.Mutex
	encoder    *json.Encoder
	showObject bool
}

func (p *printer) print(l line) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.encoder.Encode(l); err != nil {
		os.Exit(0) // Nobody reads the output any more.
	}
}

// about is a line about an object.
func (p *printer) about(event string, object any) line {
	l := line{Event: event, Key: key(object), ResourceVersion: version(object)}
	if p.showObject {
		l.Object = object
	}
	return l
}

func (p *printer) OnAdd(object any, initial bool) {
	l := p.about("add", object)
	l.Initial = initial
	p.print(l)
}

func (p *printer) OnUpdate(old, object any) {
	l := p.about("update", object)
	l.OldResourceVersion = version(old)
	p.print(l)
}

func (p *printer) OnDelete(object any) {
	tombstone, missed := object.(cache.DeletedFinalStateUnknown)
	if missed {
		object = tombstone.Obj
	}
	l := p.about("delete", object)
	l.Tombstone = missed
	p.print(l)
}

func key(object any) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return ""
	}
	return key
}

func version(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}

// options is the command line.
type options struct {
	kubeconfig, server, namespace, resource, initial string
	showObject                                       bool
}

func parse() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig file")
	flag.StringVar(&o.server, "server", "", "the server's URL; no kubeconfig is read then")
	flag.StringVar(&o.namespace, "namespace", metav1.NamespaceAll, "this namespace; by default all")
	flag.StringVar(&o.resource, "resource", "configmaps.v1.", "RESOURCE.VERSION.GROUP, of a built-in kind")
	flag.StringVar(&o.initial, "initial", "auto", "where the initial state comes from: auto (a streaming list) or list")
	flag.BoolVar(&o.showObject, "show-object", false, "print the object with each change")
	flag.Parse()
	return o
}

func (o options) config() (*rest.Config, error) {
	if o.server != "" {
		return &rest.Config{Host: o.server, WrapTransport: func(to http.RoundTripper) http.RoundTripper { return refusing{to} }}, nil
	}
	return clientcmd.BuildConfigFromFlags("", o.kubeconfig)
}

// refused is the code of an answer that stands for a connection that is refused: no server can refuse one request only.
const refused = 599

// refusing makes errors of such answers.
type refusing struct{ http.RoundTripper }

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err == nil && response.StatusCode == refused {
		response.Body.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	return response, err
}

// gates are client-go's feature gates with the streaming list switched off.
type gates struct{ features.Gates }

func (g gates) Enabled(feature features.Feature) bool {
	return feature != features.WatchListClient && g.Gates.Enabled(feature)
}

func run(ctx context.Context, o options) error {
	if o.initial == "list" {
		features.ReplaceFeatureGates(gates{features.FeatureGates()})
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	gvr, _ := schema.ParseResourceArg(o.resource)
	if gvr == nil {
		return fmt.Errorf("not RESOURCE.VERSION.GROUP: %q", o.resource)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(o.namespace))
	generic, err := factory.ForResource(*gvr)
	if err != nil {
		return err
	}
	informer := generic.Informer()
	out := &printer{encoder: json.NewEncoder(os.Stdout), showObject: o.showObject}
	handler, err := informer.AddEventHandler(out)
	if err != nil {
		return err
	}
	err = informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		out.print(line{Event: "error", Message: err.Error()})
	})
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		out.print(line{Event: "synced"})
	}
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
