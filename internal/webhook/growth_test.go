package webhook

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/cputime"
)

// grown is a list of a kind. Its function make returns an object whose list has n elements.
type grown struct {
	path string
	make func(n int) []byte
}

// listGrowths returns the lists and maps of a kind's spec, at any depth. A list in a list is spread over ten elements of the outer one.
func listGrowths[T client.Object](good T) (out []grown) {
	var visit func(t reflect.Type, path []int, name string, seen []reflect.Type)
	visit = func(t reflect.Type, path []int, name string, seen []reflect.Type) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			if t.Elem().Kind() == reflect.Uint8 {
				return
			}
			out = append(out, grown{path: name, make: func(n int) []byte { return growObject(good, path, n) }})
			visit(t.Elem(), path, name+"[]", seen)
		case reflect.Struct:
			for _, before := range seen {
				if before == t {
					return
				}
			}
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() {
					visit(f.Type, append(path[:len(path):len(path)], i), strings.TrimPrefix(name+"."+f.Name, "."), append(seen[:len(seen):len(seen)], t))
				}
			}
		}
	}
	spec, _ := reflect.TypeFor[T]().Elem().FieldByName("Spec")
	visit(spec.Type, spec.Index, "", nil)
	return out
}

// growObject returns an object whose list at a path of fields has n elements.
func growObject[T client.Object](good T, path []int, n int) []byte {
	object := good.DeepCopyObject()
	next := 0
	grow(reflect.ValueOf(object).Elem(), path, n, &next)
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return raw
}

// grow gives the list at a path n elements. Lists on the way to it get ten.
func grow(v reflect.Value, path []int, n int, next *int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		grow(v.Elem(), path, n, next)
	case reflect.Struct:
		if len(path) > 0 {
			grow(v.Field(path[0]), path[1:], n, next)
		}
	case reflect.Slice:
		count := n
		if len(path) > 0 {
			count, n = min(10, n), max(n/10, 1)
		}
		v.Set(reflect.MakeSlice(v.Type(), count, count))
		for i := range count {
			fill(v.Index(i), next)
			if len(path) > 0 {
				grow(v.Index(i), path, n, next)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, next)
			fill(value, next)
			v.SetMapIndex(key, value)
		}
	}
}

// fill sets all texts of a value, each to another one, and an element in each of its lists.
func fill(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.String:
		*next++
		v.SetString(fmt.Sprint("v", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		if v.Type().Elem().Kind() != reflect.Struct || v.Type().Elem().PkgPath() == reflect.TypeFor[grown]().PkgPath() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), next)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), next)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), next)
			}
		}
	}
}

// productGrowths are clusters in which two lists grow that rules compare with each other.
func productGrowths() []grown {
	cluster := func(change func(*infrav1.NetworkSpec)) []byte {
		c := newCluster()
		change(&c.Spec.NetworkSpec)
		raw, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		return raw
	}
	ranges := func(first, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("%d.%d.%d.0/24", first, i/256, i%256))
		}
		return out
	}
	subnets := func(role infrav1.SubnetRole, n int, of func(i int) []string) (out infrav1.Subnets) {
		for i := range n {
			out = append(out, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: fmt.Sprint("s", i), Role: role, CIDRBlocks: of(i)}})
		}
		return out
	}
	return []grown{
		{"ranges outside of a network with many ranges", func(n int) []byte {
			return cluster(func(network *infrav1.NetworkSpec) {
				network.Vnet.CIDRBlocks = ranges(10, 5*n)
				network.Subnets = subnets(infrav1.SubnetCluster, 10, func(int) []string { return ranges(11, n/2) })
			})
		}},
		{"subnets of the control plane without ranges beside many ranges", func(n int) []byte {
			return cluster(func(network *infrav1.NetworkSpec) {
				network.Subnets = append(subnets(infrav1.SubnetControlPlane, n, func(int) []string { return nil }),
					subnets(infrav1.SubnetNode, 10, func(int) []string { return ranges(10, n/10) })...)
			})
		}},
	}
}

// cost is the memory and the processor time that the webhooks need for an object.
type cost struct {
	allocated uint64
	took      time.Duration
}

func measure(tb testing.TB, k admitted, raw []byte) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took := cputime.Measure(func() { k.ask(tb, raw) })
	runtime.ReadMemStats(&after)
	return cost{after.TotalAlloc - before.TotalAlloc, took}
}

// TestWebhooksGrowLinearly gives the webhooks of every kind objects in which one list has 100 or 400 elements: the larger object must not need six
// times as much memory or ten times as much processor time, because any user can send objects of a million bytes.
func TestWebhooksGrowLinearly(t *testing.T) {
	lists := 0
	for _, k := range listAdmitted(t) {
		growths := k.growths
		if k.plural == "azureclusters" {
			growths = append(growths, productGrowths()...)
		}
		for _, list := range growths {
			lists++
			small, large := list.make(100), list.make(400)
			var few, many cost
			for range 4 { // A garbage collection may begin in any of them.
				few, many = measure(t, k, small), measure(t, k, large)
				if many.took < 10*few.took && many.allocated < 6*few.allocated {
					break
				}
			}
			if many.took > 10*few.took && many.took > 20*time.Millisecond || many.allocated > 6*few.allocated {
				t.Errorf("%s %s: 100 elements need %d bytes and %v, 400 need %d and %v", k.plural, list.path, few.allocated, few.took,
					many.allocated, many.took)
			}
		}
	}
	if lists < 100 {
		t.Errorf("only %d lists were found", lists)
	}
}
