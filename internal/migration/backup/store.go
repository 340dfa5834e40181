package backup

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

const (
	// SecretName is the name of the Secret with the number of parts. It is created last and deleted first, so a backup with it is
	// complete.
	SecretName = "capz-migration-backup"
	partsKey   = "parts"
	dataKey    = "backup.json.gz"
	// partSize keeps a Secret below the limit of 1 MiB.
	partSize = 900 << 10
	// partLabel is the label of the parts, by which they are found without the number.
	partLabel = "infrastructure.cluster.x-k8s.io/migration-backup-part"
	// maxContent is the largest size of a backup before its compression, and maxParts that of one that gzip cannot compress.
	maxContent = 64 << 20
	maxParts   = maxContent/partSize + 2
)

// Store stores a backup. It may be repeated after an interruption.
func (b *Backup) Store(ctx context.Context, c client.Client) error {
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if len(content) > maxContent {
		return fmt.Errorf("the backup has %d bytes. The limit is %d. Move by hand as described in the book", len(content), maxContent)
	}
	packed := &bytes.Buffer{}
	writer := gzip.NewWriter(packed)
	_, err = writer.Write(content)
	if err := errors.Join(err, writer.Close()); err != nil {
		return err
	}
	parts := 0
	for part := range slices.Chunk(packed.Bytes(), partSize) {
		if err := storeSecret(ctx, c, partName(parts), map[string][]byte{dataKey: part}); err != nil {
			return err
		}
		parts++
	}
	return storeSecret(ctx, c, SecretName, map[string][]byte{partsKey: []byte(strconv.Itoa(parts))})
}

func partName(i int) string { return fmt.Sprintf("%s-%d", SecretName, i) }

func storeSecret(ctx context.Context, c client.Client, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: name}, Data: data}
	if name != SecretName {
		secret.Labels = map[string]string{partLabel: ""}
	}
	err := c.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		err = c.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("store Secret %s/%s: %w", migration.Namespace, name, err)
	}
	return nil
}

// Load returns the stored backup, nil if there is no complete one.
func Load(ctx context.Context, c client.Reader) (*Backup, error) {
	parts, err := countParts(ctx, c)
	if err != nil || parts == 0 {
		return nil, err
	}
	var packed []byte
	for i := range parts {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: partName(i)}, secret); err != nil {
			return nil, fmt.Errorf("get a part of the backup: %w", err)
		}
		packed = append(packed, secret.Data[dataKey]...)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	out := &Backup{}
	if err := json.NewDecoder(io.LimitReader(reader, maxContent)).Decode(out); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	return out, nil
}

// countParts returns 0 if there is no complete backup.
func countParts(ctx context.Context, c client.Reader) (int, error) {
	index := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: SecretName}, index)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("get the backup: %w", err)
	}
	parts, err := strconv.Atoi(string(index.Data[partsKey]))
	if err != nil || parts < 1 || parts > maxParts {
		return 0, fmt.Errorf("the Secret %s/%s has no number of parts", migration.Namespace, SecretName)
	}
	return parts, nil
}

// Delete deletes the stored backup. It may be repeated after an interruption.
func Delete(ctx context.Context, c client.Client) error {
	index := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: SecretName}, index)
	if err == nil {
		err = c.Delete(ctx, index)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s/%s: %w", migration.Namespace, SecretName, err)
	}
	parts := &metav1.PartialObjectMetadataList{}
	parts.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.List(ctx, parts, client.InNamespace(migration.Namespace), client.HasLabels{partLabel}); err != nil {
		return fmt.Errorf("list the parts of the backup: %w", err)
	}
	for _, part := range parts.Items {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: part.Namespace, Name: part.Name}}
		if err := client.IgnoreNotFound(c.Delete(ctx, secret)); err != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", part.Namespace, part.Name, err)
		}
	}
	return nil
}
