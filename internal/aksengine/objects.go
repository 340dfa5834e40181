package aksengine

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// Groups of kinds that the manifests refer to.
const (
	bootstrapGroup    = "bootstrap.cluster.x-k8s.io"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io"
	coreGroup         = "cluster.x-k8s.io"
	contractVersion   = "v1beta2"
)

func (c *conversion) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: name}
}

func newInfraType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: infrav1.GroupVersion.String(), Kind: kind}
}

func newType(group, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: group + "/" + contractVersion, Kind: kind}
}

// YAML returns the objects as users apply them.
func (r Result) YAML() ([]byte, error) {
	var documents [][]byte
	for _, object := range r.Objects {
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		var content map[string]any
		if err := json.Unmarshal(raw, &content); err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		delete(content, "status")
		if raw, err = yaml.Marshal(content); err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		documents = append(documents, raw)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

// findRefusals returns the errors of the webhooks about the objects of this provider.
func findRefusals(objects []any) []string {
	var out []string
	for _, object := range objects {
		var errs field.ErrorList
		var name string
		switch object := object.(type) {
		case *infrav1.AzureCluster:
			object = object.DeepCopy()
			defaults.FillAzureCluster(object)
			name, errs = "AzureCluster "+object.Name, webhook.ValidateAzureCluster(object, plan.Features{})
		case *infrav1.AzureMachineTemplate:
			object = object.DeepCopy()
			defaults.FillAzureMachineTemplate(object)
			name, errs = "AzureMachineTemplate "+object.Name, webhook.ValidateAzureMachineTemplate(object)
		case *infrav1.AzureMachinePool:
			object = object.DeepCopy()
			defaults.FillAzureMachinePool(object)
			name, errs = "AzureMachinePool "+object.Name, webhook.ValidateAzureMachinePool(object)
		}
		for _, err := range errs {
			out = append(out, name+": "+err.Error())
		}
	}
	return out
}
