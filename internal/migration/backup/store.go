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
	// secretName is the name of the Secret with the number of parts. It is created last, so a backup with it is complete.
	secretName = "capz-migration-backup"
	partsKey   = "parts"
	dataKey    = "backup.json.gz"
	// partSize keeps a Secret below the limit of 1 MiB.
	partSize = 900 << 10
	// maxContent bounds a backup that is read.
	maxContent = 256 << 20
	pageSize   = 500
)

// Store stores a backup. It may be repeated after an interruption.
func (b *Backup) Store(ctx context.Context, c client.Client) error {
	packed := &bytes.Buffer{}
	writer := gzip.NewWriter(packed)
	if err := errors.Join(json.NewEncoder(writer).Encode(b), writer.Close()); err != nil {
		return err
	}
	parts := 0
	for part := range slices.Chunk(packed.Bytes(), partSize) {
		if err := storeSecret(ctx, c, partName(parts), map[string][]byte{dataKey: part}); err != nil {
			return err
		}
		parts++
	}
	return storeSecret(ctx, c, secretName, map[string][]byte{partsKey: []byte(strconv.Itoa(parts))})
}

func partName(i int) string { return fmt.Sprintf("%s-%d", secretName, i) }

func storeSecret(ctx context.Context, c client.Client, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: name}, Data: data}
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
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: secretName}, index)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("get the backup: %w", err)
	}
	parts, err := strconv.Atoi(string(index.Data[partsKey]))
	if err != nil || parts < 1 || parts > 1000 {
		return 0, fmt.Errorf("Secret %s/%s has no number of parts", migration.Namespace, secretName)
	}
	return parts, nil
}

// Delete deletes the stored backup. The Secret with the number of parts goes last, so that a repetition deletes the rest.
func Delete(ctx context.Context, c client.Client) error {
	parts, err := countParts(ctx, c)
	if err != nil {
		return err
	}
	names := []string{secretName}
	for i := range parts {
		names = append(names, partName(i))
	}
	for _, name := range slices.Backward(names) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: name}}
		if err := client.IgnoreNotFound(c.Delete(ctx, secret)); err != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", migration.Namespace, name, err)
		}
	}
	return nil
}
