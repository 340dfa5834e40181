package harness_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFindSecrets plants a secret value in an annotation of one object of each kind that the manager or users of the provider write.
func TestFindSecrets(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		kinds := []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap")}
		for _, kind := range []string{"Cluster", "Machine", "MachinePool"} {
			kinds = append(kinds, clusterv1.GroupVersion.WithKind(kind))
		}
		for kind := range harness.NewLists(s.Client.Scheme()) {
			kinds = append(kinds, infrav1.GroupVersion.WithKind(kind))
		}
		if len(kinds) < 20 {
			t.Fatalf("only %d kinds", len(kinds))
		}
		if found := s.FindSecrets(); len(found) > 0 {
			t.Fatalf("found before any is planted: %q", found)
		}
		for _, kind := range kinds {
			made, err := s.Client.Scheme().New(kind)
			if err != nil {
				t.Fatal(err)
			}
			object := made.(client.Object)
			object.SetNamespace(s.Namespace)
			object.SetName("planted")
			object.SetAnnotations(map[string]string{"note": s.NewSecretValue(kind.Kind)})
			s.CreateObject(object)
			found := s.FindSecrets()
			if !slices.ContainsFunc(found, func(each string) bool { return strings.HasPrefix(each, kind.Kind+": ") }) {
				t.Errorf("the value in a %s is not found: %q", kind.Kind, found)
			}
		}
	})
}

// TestFindLoggedSecrets logs secret values, as they are and in base64.
func TestFindLoggedSecrets(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		logger, unmarked := s.Environment.Logs.NewLogger(), s.Azure.ClientSecret
		logger.Info("nothing")
		if found := s.FindSecrets(); len(found) > 0 {
			t.Fatalf("found before any is logged: %q", found)
		}
		values := []string{s.NewSecretValue("plain"), unmarked}
		for _, before := range []string{"1", "12", "123"} {
			values = append(values, s.GuardEncoded(before+s.NewSecretValue("")))
		}
		for i, value := range values {
			logger.Info("leaks", "value", value)
			if found := s.FindSecrets(); len(found) != i+1 || !strings.HasPrefix(found[i], "logs: ") {
				t.Errorf("%d values were logged, found: %q", i+1, found)
			}
		}
	})
}
