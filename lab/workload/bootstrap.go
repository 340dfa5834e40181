package workload

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// BootstrapData has the time from which on the bootstrap data of a virtual machine exist, without which it cannot
// be created.
type BootstrapData struct {
	// Created is the time of the Secret, in whole seconds, rounded down.
	Created time.Time
	// Seen is when Create saw the Secret, a little later than it was made; zero if it was not watching.
	Seen time.Time
}

// secretNames say for each virtual machine, by lower-case ID, which Secret has its bootstrap data.
func (o *Object) secretNames() map[string]string {
	names := map[string]string{}
	o.Walk(func(o *Object, _ int) {
		if o.Kind != "Machine" || o.raw == nil {
			return
		}
		secret, _, _ := unstructured.NestedString(o.raw.Object, "spec", "bootstrap", "dataSecretName")
		for _, child := range o.Children {
			if child.raw == nil || secret == "" {
				continue
			}
			provider, _, _ := unstructured.NestedString(child.raw.Object, "spec", "providerID")
			if id, ok := strings.CutPrefix(strings.ToLower(provider), "azure://"); ok {
				names[id] = secret
			}
		}
	})
	return names
}

// LoadBootstrapData finds the bootstrap data of the cluster's virtual machines, by their lower-case IDs.
func LoadBootstrapData(ctx context.Context, kube client.Client, root *Object, times Times) (map[string]BootstrapData, error) {
	secrets := secretList()
	if err := kube.List(ctx, secrets, client.InNamespace(management.Namespace), client.MatchingLabels{clusterLabel: root.Name}); err != nil {
		return nil, err
	}
	created := map[string]time.Time{}
	for _, secret := range secrets.Items {
		created[secret.Name] = secret.CreationTimestamp.Time
	}
	found := map[string]BootstrapData{}
	for id, name := range root.secretNames() {
		if at, ok := created[name]; ok {
			found[id] = BootstrapData{Created: at, Seen: times.Bootstrap[name]}
		}
	}
	return found, nil
}

// secretList returns a list of Secrets without their contents.
func secretList() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "SecretList"})
	return list
}

// watchBootstrap keeps when each Secret with bootstrap data of the cluster was first seen, until ctx ends.
func watchBootstrap(ctx context.Context, s *settings.Settings, name string) (seen func() map[string]time.Time) {
	var mutex sync.Mutex
	times := map[string]time.Time{}
	seen = func() map[string]time.Time {
		mutex.Lock()
		defer mutex.Unlock()
		return maps.Clone(times)
	}
	config, err := management.RESTConfig(s)
	if err != nil {
		return seen
	}
	kube, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		return seen
	}
	watcher, err := kube.Watch(ctx, secretList(), client.InNamespace(management.Namespace), client.MatchingLabels{clusterLabel: name})
	if err != nil {
		return seen // the times of the Secrets have to do
	}
	go func() {
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			secret, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !ok || event.Type != watch.Added ||
				!slices.ContainsFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == "KubeadmConfig" }) {
				continue
			}
			mutex.Lock()
			times[secret.Name] = time.Now()
			mutex.Unlock()
		}
	}()
	return seen
}
