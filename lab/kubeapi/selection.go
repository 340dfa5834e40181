package kubeapi

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// selection is which objects a list or watch asks for.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func readSelection(r *http.Request) (selection, error) {
	q := r.URL.Query()
	l, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return selection{}, apierrors.NewBadRequest("labelSelector: " + err.Error())
	}
	f, err := fields.ParseSelector(q.Get("fieldSelector"))
	if err != nil {
		return selection{}, apierrors.NewBadRequest("fieldSelector: " + err.Error())
	}
	return selection{labels: l, fields: f}, nil
}

func (s selection) matchesObject(o client.Object) bool {
	return s.labels.Matches(labels.Set(o.GetLabels())) && (s.fields.Empty() || s.fields.Matches(fieldsOf{o}))
}

// fieldsOf shows any field of an object to a selector. A kube-apiserver knows a few of each kind.
type fieldsOf struct{ object client.Object }

func (f fieldsOf) Has(name string) bool { return f.Get(name) != "" }

func (f fieldsOf) Get(name string) string {
	switch name {
	case "metadata.name":
		return f.object.GetName()
	case "metadata.namespace":
		return f.object.GetNamespace()
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(f.object)
	if err != nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(content, strings.Split(name, ".")...)
	return value
}
