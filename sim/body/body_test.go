package body_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

func newSample() body.Object {
	return body.Clone(body.Object{"properties": body.Object{"n": 3, "on": true,
		"list": []body.Object{{"name": "A", "id": "1"}, {"name": "b", "id": "2"}}, "texts": []string{"x"}}})
}

func TestPathsThatAreNotThere(t *testing.T) {
	o := newSample()
	if body.String(o, "properties.no.such") != "" || body.Int(o, "properties.on") != 0 || body.Child(o, "properties.list") != nil ||
		len(body.Objects(o, "x")) != 0 || body.Has(o, "properties.x") {
		t.Error("a missing or different step must read as the zero value")
	}
	body.Delete(o, "no.such.path")
	body.Strip(o, "no[].such")
	if d := cmp.Diff(newSample(), o); d != "" {
		t.Error(d)
	}
}

func TestSetAndDefault(t *testing.T) {
	o := body.Object{}
	body.Set(o, "a.b", 1)
	body.Default(o, "a.b", 2)
	body.Default(o, "a.c", []string{"x"})
	if d := cmp.Diff(body.Object{"a": body.Object{"b": 1.0, "c": []any{"x"}}}, o); d != "" {
		t.Error(d)
	}
}

func TestStripStepsIntoArrays(t *testing.T) {
	o := newSample()
	body.Strip(o, "properties.list[].id")
	for _, e := range body.Objects(o, "properties.list") {
		if body.Has(e, "id") {
			t.Errorf("%v still has an id", e)
		}
	}
}

func TestNamedIgnoresCase(t *testing.T) {
	if i, e := body.FindNamed(body.Objects(newSample(), "properties.list"), "B"); i != 1 || body.String(e, "id") != "2" {
		t.Errorf("found %d %v", i, e)
	}
	if i, _ := body.FindNamed(nil, "x"); i != -1 {
		t.Errorf("found %d in nothing", i)
	}
}

func TestMergeRemovesAndOverlayKeeps(t *testing.T) {
	patch := body.Object{"properties": body.Object{"n": nil, "on": false}}
	m, o := newSample(), newSample()
	body.Merge(m, patch)
	body.Overlay(o, patch)
	if body.Has(m, "properties.n") || body.Bool(m, "properties.on") {
		t.Errorf("merge: %v", m)
	}
	if body.Int(o, "properties.n") != 3 || body.Bool(o, "properties.on") {
		t.Errorf("overlay: %v", o)
	}
}

func TestCloneIsDeep(t *testing.T) {
	a := newSample()
	b := body.Clone(a)
	body.Set(body.Objects(b, "properties.list")[0], "id", "changed")
	if body.Equal(a, b) {
		t.Error("the copy shares an element with the original")
	}
}
