package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
)

// keySubscription is the key of a Secret in the credential format of the Azure Service Operator that has the subscription.
const keySubscription = "AZURE_SUBSCRIPTION_ID"

// addCredentials creates placeholders for the Secrets that AzureASOManaged objects sign in with and that the input does not have: a plan
// reads no Secret, but the subscription of these objects stands there. It is that of their nodes, or else the default.
func (p *run) addCredentials(ctx context.Context) error {
	clusters := &clusterv1.ClusterList{}
	if err := p.server.List(ctx, clusters); err != nil {
		return err
	}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		members, err := asoresources.GatherMembers(ctx, p.server, cluster)
		if err != nil {
			return err
		}
		for name, subscription := range members.CredentialSecrets() {
			if err := p.addCredential(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, subscription); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *run) addCredential(ctx context.Context, key client.ObjectKey, subscription string) error {
	secret := &corev1.Secret{}
	if err := p.server.Get(ctx, key, secret); !apierrors.IsNotFound(err) {
		return err
	}
	if subscription = cmp.Or(subscription, p.options.Identity.SubscriptionID); subscription == "" {
		note := fmt.Sprintf("Secret %s, which AzureASOManaged objects sign in with, is not read, so their subscription is not known. Set it with --default-subscription.", key)
		if !slices.Contains(p.notes, note) {
			p.notes = append(p.notes, note)
		}
		return nil
	}
	secret.Namespace, secret.Name = key.Namespace, key.Name
	secret.Data = map[string][]byte{keySubscription: []byte(subscription), "AZURE_TENANT_ID": []byte("plan"), "AZURE_CLIENT_ID": []byte("plan")}
	return p.server.Create(ctx, secret)
}
