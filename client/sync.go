package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	v1 "github.com/coursebridge/coursebridge/api/v1"
)

// SyncState is how far a sync has come. Its zero value starts from the beginning.
type SyncState struct {
	Since string `json:"since,omitempty"` // everything before it has been handled
	// Next is the query of the page to go on with, and Watermark the Since of the
	// next sync; both are empty between two syncs.
	Next      string `json:"next,omitempty"`
	Watermark string `json:"watermark,omitempty"`
}

// Checkpoint keeps the state of a sync between calls.
type Checkpoint interface {
	Load(ctx context.Context) (SyncState, error)
	Save(ctx context.Context, s SyncState) error
}

// beginning is before the first change of any company.
const beginning = "2000-01-01T00:00:00Z"

// SyncAssignments passes every assignment that was created or changed since the
// last call to handle, and remembers in the checkpoint how far it came. It never
// misses a change, and may pass an assignment twice. If it is interrupted, the next
// call goes on with the page at which this one stopped.
//
// Revoked assignments are not passed: the event employee.removed and the caller's
// own revocations report them.
func (c *Client) SyncAssignments(ctx context.Context, at Checkpoint, handle func(context.Context, v1.Assignment) error) error {
	state, err := at.Load(ctx)
	if err != nil {
		return fmt.Errorf("load the checkpoint: %w", err)
	}
	for {
		if err := c.syncPage(ctx, &state, handle); err != nil {
			return err
		}
		if err := at.Save(ctx, state); err != nil {
			return fmt.Errorf("save the checkpoint: %w", err)
		}
		if state.Next == "" {
			return nil
		}
	}
}

// syncPage handles one page and moves the state to the next one.
func (c *Client) syncPage(ctx context.Context, state *SyncState, handle func(context.Context, v1.Assignment) error) error {
	query, err := url.ParseQuery(state.Next)
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	if state.Next == "" {
		query = AssignmentFilter{}.query()
		query.Set("updatedSince", beginning)
		if state.Since != "" {
			query.Set("updatedSince", state.Since)
		}
	}
	page, header, err := callWithHeader[v1.AssignmentList](ctx, c, request{path: []string{"assignments"}, query: query})
	if err != nil {
		return err
	}
	for _, a := range page.Items {
		if err := handle(ctx, a); err != nil {
			return err
		}
	}
	if state.Watermark == "" { // only the first page's counts: later ones are newer than what has been read
		state.Watermark = header.Get("X-Sync-Watermark")
	}
	if next := nextPage(header); next != nil {
		state.Next = next.Encode()
		return nil
	}
	*state = SyncState{Since: state.Watermark}
	return nil
}

// FileCheckpoint keeps the state in a file, which is replaced as a whole.
type FileCheckpoint string

// Load reads the file. A missing one starts from the beginning.
func (f FileCheckpoint) Load(context.Context) (SyncState, error) {
	var s SyncState
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// Save replaces the file.
func (f FileCheckpoint) Save(_ context.Context, s SyncState) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*")
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), string(f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return nil
}
