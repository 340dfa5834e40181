package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
)

// leaseName is the name of the manager's lease, in the established provider and here.
const leaseName = "controller-leader-election-capz"

// Back returns the management cluster to the version of the established provider that the backup names. A repetition continues where the
// last run ended.
func (m *Move) Back(ctx context.Context) error {
	var err error
	if m.progress, err = loadProgress(ctx, m.Client); err != nil {
		return err
	}
	if m.backup, err = backup.Load(ctx, m.Client); err != nil {
		return err
	}
	switch {
	case m.progress == nil:
		return errors.New("there is no migration to return from. The ConfigMap " + migration.Namespace + "/" + ProgressName + " does not exist")
	case m.backup == nil && !m.isForgetting():
		return fmt.Errorf("there is no backup. If kubectl capz migrate run was interrupted before the step backup, nothing was changed: complete it. If Secret %s/%s was deleted, restore it",
			migration.Namespace, backup.SecretName)
	}
	if err := m.checkFormerRelease(ctx); err != nil {
		return err
	}
	if m.progress.direction == forward {
		m.progress = &progress{direction: back, from: m.progress.from, started: time.Now().Truncate(time.Second)}
		if err := m.progress.store(ctx, m.Client); err != nil {
			return err
		}
	}
	if err := m.runSteps(ctx, m.backSteps()); err != nil {
		return err
	}
	return deleteProgress(ctx, m.Client)
}

// checkFormerRelease returns an error if the version to return to is not installed yet and clusterctl cannot read it. No manager would run after
// the steps before its installation.
func (m *Move) checkFormerRelease(ctx context.Context) error {
	returned, err := m.isReturned(ctx)
	if err != nil || returned {
		return err
	}
	if err := m.FindRelease(ctx, m.progress.from); err != nil {
		return fmt.Errorf("clusterctl cannot read version %s: %w. Nothing was changed. %s", m.progress.from, err, migration.FormerReleaseRemedy)
	}
	return nil
}

// isForgetting reports whether the last run has begun to delete the backup, which nothing needs any more.
func (m *Move) isForgetting() bool {
	return m.progress.direction == back && slices.Contains(m.progress.steps, definitionsStep)
}

const (
	removeStep      = "remove"
	definitionsStep = "definitions"
)

// isReturned reports whether the former version is installed again. The version alone does not prove it: it is also the installed one if
// the migration to this provider was interrupted before the upgrade.
func (m *Move) isReturned(ctx context.Context) (bool, error) {
	if !slices.Contains(m.progress.steps, removeStep) {
		return false, nil
	}
	return m.isVersion(m.progress.from)(ctx)
}

// backSteps are the steps of the return. Objects get their former form while no manager runs, because the established provider cannot
// decode all of ours, and before its operator runs.
func (m *Move) backSteps() []Step {
	returned := m.isReturned
	return []Step{
		{stopStep, returned, func(ctx context.Context) error {
			return m.stopDeployments(ctx, []string{prepareupgrade.ProviderDeployment})
		}},
		{pauseStep, returned, m.pauseTopologies},
		{"webhooks", returned, m.deleteProviderWebhooks},
		{"objects", returned, m.restoreObjects},
		{observeStep, returned, m.removeObserve},
		{"operator-objects", returned, m.restoreOperatorObjects},
		{"secrets", returned, m.restoreSecrets},
		{"record", returned, m.deleteRecord},
		{removeStep, either(returned, m.isVersion("")), func(ctx context.Context) error {
			return m.Clusterctl(ctx, nil, "delete", "--infrastructure", "azure")
		}},
		{"roles", returned, func(ctx context.Context) error {
			return m.deleteSelectedRoles(ctx, ownRoles)
		}},
		{"contracts", m.areRestored(m.restoreContracts), m.restoreDefinitions(m.restoreContracts)},
		{"install", returned, func(ctx context.Context) error {
			return m.Clusterctl(ctx, m.installationVariables(), "init", "--infrastructure", "azure:"+m.progress.from, "--wait-providers")
		}},
		{unpauseStep, m.isUnpaused, m.unpauseTopologies},
		{definitionsStep, m.areRestored(m.restoreConversion), m.restoreDefinitions(m.restoreConversion)},
		{"forget", func(context.Context) (bool, error) { return false, nil }, func(ctx context.Context) error { return backup.Delete(ctx, m.Client) }},
	}
}

// deleteProviderWebhooks deletes the admission webhooks of this provider. Without its manager they would refuse every change.
func (m *Move) deleteProviderWebhooks(ctx context.Context) error {
	for kind, name := range map[string]string{"MutatingWebhookConfiguration": "capz-mutating-webhook-configuration",
		"ValidatingWebhookConfiguration": "capz-validating-webhook-configuration"} {
		configuration := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		configuration.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
		if err := m.deleteExisting(ctx, configuration); err != nil {
			return err
		}
	}
	return nil
}

// restoreSecrets removes the finalizer that this provider puts on the Secrets of identities.
func (m *Move) restoreSecrets(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return pages.ForEach(ctx, m.Client, list, func(secret client.Object) error {
		return m.removeFinalizer(ctx, secret, infrav1.CredentialFinalizer)
	})
}

// deleteRecord deletes the record of credentials in use and the mark on the lease, so that a later migration makes the record anew.
func (m *Move) deleteRecord(ctx context.Context) error {
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: identity.FormerRecordName}}
	if err := m.deleteExisting(ctx, record); err != nil {
		return err
	}
	lease := &coordinationv1.Lease{}
	err := m.Client.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: leaseName}, lease)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Lease %s: %w", leaseName, err)
	}
	if _, marked := lease.Annotations[infrav1.FormerRecordedAnnotation]; !marked {
		return nil
	}
	before := lease.DeepCopy()
	delete(lease.Annotations, infrav1.FormerRecordedAnnotation)
	if err := m.Client.Patch(ctx, lease, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("remove the mark of Lease %s: %w", leaseName, err)
	}
	return nil
}

// deleteExisting deletes an object if it exists.
func (m *Move) deleteExisting(ctx context.Context, object client.Object) error {
	err := m.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil {
		err = m.Client.Delete(ctx, object)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
