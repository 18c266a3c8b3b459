// Prints objects of every kind that Kubernetes has in protobuf, each as the JSON and as the protobuf that Go makes of it.
//
// A line is {"name", "apiVersion", "kind", "json", "protobuf", "encoded"}: `protobuf` is what Go writes, `json` what Go
// writes after it has read that, `encoded` what Go writes in protobuf after it has read `json` (missing if that is
// `protobuf`). A watch event is the bare message, as it is in a stream; everything else has the envelope.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// How the fields of an object are filled.
type mode int

const (
	empty  mode = iota // no field
	zeros              // every field, with zeros behind pointers, in lists and in maps
	full               // every field, with values
	random             // some fields, with any values
)

type filler struct {
	mode   mode
	random *rand.Rand
	// The types that are being filled, from the outside in.
	within []reflect.Type
}

func (f *filler) skip() bool {
	return f.mode == empty || f.mode == random && f.random.Intn(3) == 0
}

// The number of elements of a list or map.
func (f *filler) length(element reflect.Type) int {
	if f.mode == random {
		return f.random.Intn(3)
	}
	if f.mode == full && element.Kind() != reflect.Struct {
		return 2
	}
	return 1
}

func (f *filler) integer(bits int) int64 {
	if f.mode == zeros {
		return 0
	}
	if f.mode == full {
		return int64(7 + f.random.Intn(90))
	}
	edges := []int64{0, 1, -1, 127, 128, 1<<31 - 1, -1 << 31, f.random.Int63n(1 << 20)}
	if bits == 64 {
		edges = append(edges, 1<<63-1, -1<<63, 1<<53+1)
	}
	return edges[f.random.Intn(len(edges))]
}

func (f *filler) text() string {
	switch f.mode {
	case zeros:
		return ""
	case full:
		return "text-" + strconv.Itoa(f.random.Intn(1000))
	}
	some := []string{"", "a", "true", "1", "null", "<&>", "\"\\/\b\f\n\r\t\u2028", "äöü 漢字 🦀", "\x00\x1f\x7f", strings.Repeat("long ", 40), "bad \xff\xfe\xe6\xbc utf-8"}
	return some[f.random.Intn(len(some))]
}

func (f *filler) json() []byte {
	if f.mode == zeros {
		return []byte(`{}`)
	}
	some := []string{`{"a":[1,"b",null,{"c":true}],"d":1.5}`, `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`}
	if f.mode == random {
		some = append(some, `{}`, `{"n":-9007199254740993,"s":"ü\u0001"}`)
	}
	return []byte(some[f.random.Intn(len(some))])
}

func (f *filler) time() time.Time {
	if f.mode == zeros {
		return time.Time{}
	}
	if f.mode == full {
		return time.Unix(1700000000+f.random.Int63n(100000000), 123456789).UTC()
	}
	some := []time.Time{{}, time.Unix(0, 0), time.Unix(-1, 999999999), time.Unix(1, 1), time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(2024, 2, 29, 12, 0, 0, 120000, time.UTC), time.Unix(f.random.Int63n(1<<33), f.random.Int63n(1000000000))}
	return some[f.random.Intn(len(some))].UTC()
}

func (f *filler) quantity() resource.Quantity {
	if f.mode == zeros {
		return resource.Quantity{}
	}
	some := []string{"1", "100m", "2Gi", "1500m", "0.5", "1e3", "-3", "12345678901234567890", "1u", "0"}
	return resource.MustParse(some[f.random.Intn(len(some))])
}

// Fills what has a form of its own in JSON; says whether it does.
func (f *filler) special(value any) bool {
	switch value := value.(type) {
	case *metav1.TypeMeta:
		// Not in protobuf: the envelope says it.
	case *metav1.Time:
		value.Time = f.time()
	case *metav1.MicroTime:
		value.Time = f.time()
	case *metav1.Duration:
		value.Duration = time.Duration(f.integer(64))
		if f.mode == random && f.random.Intn(2) == 0 {
			value.Duration = time.Duration(f.random.Int63n(int64(1000*time.Hour)) / 1000 * 1000)
		}
	case *resource.Quantity:
		*value = f.quantity()
	case *intstr.IntOrString:
		if f.mode != zeros && f.random.Intn(2) == 0 {
			*value = intstr.FromString(f.text())
		} else {
			*value = intstr.FromInt32(int32(f.integer(32)))
		}
	case *metav1.FieldsV1:
		value.SetRawBytes(f.json())
	case *runtime.RawExtension:
		value.Raw = f.json()
	case *apiextensionsv1.JSON:
		value.Raw = f.json()
	case *apiextensionsv1beta1.JSON:
		value.Raw = f.json()
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		f.either(&value.Schema, &value.JSONSchemas)
	case *apiextensionsv1beta1.JSONSchemaPropsOrArray:
		f.either(&value.Schema, &value.JSONSchemas)
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		value.Allows = f.mode != zeros && f.random.Intn(3) > 0
		if value.Allows && f.random.Intn(2) == 0 {
			f.fill(reflect.ValueOf(&value.Schema).Elem())
		}
	case *apiextensionsv1beta1.JSONSchemaPropsOrBool:
		value.Allows = f.mode != zeros && f.random.Intn(3) > 0
		if value.Allows && f.random.Intn(2) == 0 {
			f.fill(reflect.ValueOf(&value.Schema).Elem())
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		f.either(&value.Schema, &value.Property)
	case *apiextensionsv1beta1.JSONSchemaPropsOrStringArray:
		f.either(&value.Schema, &value.Property)
	default:
		return false
	}
	return true
}

func (f *filler) either(one, other any) {
	chosen := one
	if f.random.Intn(2) == 0 {
		chosen = other
	}
	f.fill(reflect.ValueOf(chosen).Elem())
}

func (f *filler) fill(value reflect.Value) {
	if value.CanAddr() && value.Addr().CanInterface() && f.special(value.Addr().Interface()) {
		return
	}
	switch value.Kind() {
	case reflect.Bool:
		value.SetBool(f.mode == full || f.mode == random && f.random.Intn(2) == 0)
	case reflect.Int32:
		value.SetInt(f.integer(32))
	case reflect.Int64:
		value.SetInt(f.integer(64))
	case reflect.Float64:
		some := []float64{0, 1.5}
		switch f.mode {
		case full:
			some = []float64{2.5, 3}
		case random:
			some = []float64{0, -1, 1e21, 1e20, -1e-7, 0.1, 123456789.125, 1 << 60, 1e300}
		}
		value.SetFloat(some[f.random.Intn(len(some))])
		if f.mode == zeros {
			value.SetFloat(0)
		}
	case reflect.String:
		value.SetString(f.text())
	case reflect.Pointer:
		if value.Type().Elem().Kind() == reflect.Struct && f.depth(value.Type().Elem()) > 1 {
			return
		}
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem())
	case reflect.Slice:
		element := value.Type().Elem()
		if element.Kind() == reflect.Uint8 {
			value.SetBytes([]byte(f.text()))
			return
		}
		if f.depth(element) > 1 {
			return
		}
		length := f.length(element)
		value.Set(reflect.MakeSlice(value.Type(), length, length))
		for i := 0; i < length; i++ {
			f.fill(value.Index(i))
		}
	case reflect.Map:
		element := value.Type().Elem()
		if f.depth(element) > 1 {
			return
		}
		value.Set(reflect.MakeMap(value.Type()))
		for i := f.length(element); i > 0; i-- {
			one := reflect.New(element).Elem()
			f.fill(one)
			value.SetMapIndex(reflect.ValueOf(f.text()).Convert(value.Type().Key()), one)
		}
	case reflect.Struct:
		f.within = append(f.within, value.Type())
		for i := 0; i < value.NumField(); i++ {
			if !value.Type().Field(i).IsExported() {
				panic("an unknown form: " + value.Type().String())
			}
			if !f.skip() {
				f.fill(value.Field(i))
			}
		}
		f.within = f.within[:len(f.within)-1]
	default:
		panic("an unknown type: " + value.Type().String())
	}
}

// How often a type contains itself at this place.
func (f *filler) depth(of reflect.Type) int {
	depth := 0
	for _, outer := range f.within {
		if outer == of {
			depth++
		}
	}
	return depth
}

// What the API server does to an object before it answers, beyond its fields: the items of a list are never null, and the
// claims of a stateful set and the items of a list of metadata have a type.
func asServed(object any) {
	if meta := reflect.ValueOf(object).Elem().FieldByName("ListMeta"); meta.IsValid() {
		items := reflect.ValueOf(object).Elem().FieldByName("Items")
		if items.IsValid() && items.IsNil() {
			items.Set(reflect.MakeSlice(items.Type(), 0, 0))
		}
	}
	switch object := object.(type) {
	case *metav1.PartialObjectMetadataList:
		for i := range object.Items {
			object.Items[i].TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
		}
	case *metav1beta1.PartialObjectMetadataList:
		for i := range object.Items {
			object.Items[i].TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1beta1", Kind: "PartialObjectMetadata"}
		}
	}
	claim := metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	sets := func(sets int, spec func(int) any) {
		for i := 0; i < sets; i++ {
			templates := reflect.ValueOf(spec(i)).Elem().FieldByName("VolumeClaimTemplates")
			for at := 0; at < templates.Len(); at++ {
				templates.Index(at).FieldByName("TypeMeta").Set(reflect.ValueOf(claim))
			}
		}
	}
	switch object := object.(type) {
	case *appsv1.StatefulSet:
		sets(1, func(int) any { return &object.Spec })
	case *appsv1.StatefulSetList:
		sets(len(object.Items), func(i int) any { return &object.Items[i].Spec })
	case *appsv1beta1.StatefulSet:
		sets(1, func(int) any { return &object.Spec })
	case *appsv1beta1.StatefulSetList:
		sets(len(object.Items), func(i int) any { return &object.Items[i].Spec })
	case *appsv1beta2.StatefulSet:
		sets(1, func(int) any { return &object.Spec })
	case *appsv1beta2.StatefulSetList:
		sets(len(object.Items), func(i int) any { return &object.Items[i].Spec })
	}
}

type line struct {
	Name       string          `json:"name"`
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	JSON       json.RawMessage `json:"json"`
	Protobuf   []byte          `json:"protobuf"`
	Encoded    []byte          `json:"encoded,omitempty"`
}

type judge struct {
	scheme *runtime.Scheme
	out    *json.Encoder
	wire   *protobuf.Serializer
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (j *judge) encode(object runtime.Object, kind schema.GroupVersionKind) []byte {
	object.GetObjectKind().SetGroupVersionKind(kind)
	var out bytes.Buffer
	if err := j.wire.Encode(object, &out); err != nil {
		panic(fmt.Sprint(kind, ": ", err))
	}
	return out.Bytes()
}

func (j *judge) kind(kind schema.GroupVersionKind, name string, mode mode, seed int64) {
	made := must(j.scheme.New(kind))
	f := filler{mode: mode, random: rand.New(rand.NewSource(seed))}
	f.fill(reflect.ValueOf(made).Elem())
	wire := j.encode(made, kind)
	read, _, err := j.wire.Decode(wire, nil, must(j.scheme.New(kind)))
	if err != nil {
		panic(fmt.Sprint(kind, ": ", err))
	}
	read.GetObjectKind().SetGroupVersionKind(kind)
	asServed(read)
	text := must(json.Marshal(read))
	again := must(j.scheme.New(kind))
	if err := json.Unmarshal(text, again); err != nil {
		panic(fmt.Sprint(kind, ": ", err))
	}
	encoded := j.encode(again, kind)
	if bytes.Equal(encoded, wire) {
		encoded = nil
	}
	version, name2 := kind.ToAPIVersionAndKind()
	if err := j.out.Encode(line{name, version, name2, text, wire, encoded}); err != nil {
		panic(err)
	}
}

// An event of a watch in protobuf: a bare message, whose object has the envelope.
func (j *judge) event(kind schema.GroupVersionKind, seed int64) {
	made := must(j.scheme.New(kind))
	f := filler{mode: full, random: rand.New(rand.NewSource(seed))}
	f.fill(reflect.ValueOf(made).Elem())
	wire := j.encode(made, kind)
	event := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: wire}}
	bare := must(event.Marshal())
	read, _, err := j.wire.Decode(wire, nil, must(j.scheme.New(kind)))
	if err != nil {
		panic(err)
	}
	read.GetObjectKind().SetGroupVersionKind(kind)
	asServed(read)
	text := must(json.Marshal(metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: must(json.Marshal(read))}}))
	if err := j.out.Encode(line{"event", "", "WatchEvent", text, bare, nil}); err != nil {
		panic(err)
	}
}

func main() {
	count := 3
	if len(os.Args) > 1 {
		count = must(strconv.Atoi(os.Args[1]))
	}
	all := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, admissionv1beta1.AddToScheme, apidiscoveryv2.AddToScheme, apidiscoveryv2beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme, apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme, metav1.AddMetaToScheme, metav1beta1.AddMetaToScheme,
	} {
		if err := add(all); err != nil {
			panic(err)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	j := judge{all, lines, protobuf.NewSerializer(all, all)}

	var kinds []schema.GroupVersionKind
	for kind, goType := range all.AllKnownTypes() {
		if _, ok := reflect.New(goType).Interface().(interface{ Marshal() ([]byte, error) }); !ok || kind.Kind == "WatchEvent" {
			continue
		}
		// Each group has meta/v1's options; two groups are enough.
		if goType.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && kind.Group != "" && kind.Group != "apps" && kind.Group != "meta.k8s.io" {
			continue
		}
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(a, b int) bool { return kinds[a].String() < kinds[b].String() })
	for at, kind := range kinds {
		seed := int64(at) * 1000
		j.kind(kind, "empty", empty, seed)
		j.kind(kind, "zeros", zeros, seed)
		j.kind(kind, "full", full, seed)
		j.kind(kind, "full again", full, seed+1)
		for i := 0; i < count; i++ {
			j.kind(kind, fmt.Sprint("random ", i), random, seed+2+int64(i))
		}
	}
	j.event(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, 1)
	j.event(schema.GroupVersionKind{Version: "v1", Kind: "Status"}, 2)
}
