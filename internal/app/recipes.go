package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/agent/recipe"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

// maxRecipes bounds the file of recipes.
const maxRecipes = 8 << 20

// recipeFile is .autonomy/recipes.json behind a side lock. It is a recipe.Store.
type recipeFile struct {
	ctx  context.Context // of the run it serves
	path string
	lock *filelock.Lock
}

func newRecipeFile(ctx context.Context, ws config.Workspace) *recipeFile {
	return &recipeFile{ctx: ctx, path: ws.Recipes(), lock: filelock.New(filepath.Join(ws.Autonomy(), ".recipes.lock"))}
}

// Read returns the file; one that does not exist is empty.
func (r *recipeFile) Read() ([]byte, error) {
	data, _, err := atomicfile.ReadFile(atomicfile.OS(), r.path, maxRecipes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Update replaces the file by what edit makes of it.
func (r *recipeFile) Update(edit func(old []byte) ([]byte, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("update the recipes: %w", err)
	}
	// A run that has just been achieved is worth the lock's own bound, also when its context has ended meanwhile.
	unlock, err := r.lock.Acquire(context.WithoutCancel(r.ctx))
	if err != nil {
		return fmt.Errorf("update the recipes: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := r.Read()
	if err != nil {
		return fmt.Errorf("update the recipes: %w", err)
	}
	data, err := edit(old)
	if err != nil {
		return err
	}
	return atomicfile.Replace(atomicfile.OS(), r.path, data, 0o600)
}

// recipes is the engine of one run.
func (a *App) recipes(ctx context.Context, gate *gateway.Gateway) (*recipe.Engine, error) {
	return recipe.New(recipe.Config{
		Store:   newRecipeFile(ctx, a.ws),
		Unasked: func(x action.Action) bool { return gate.Explain(x).Decision == action.Allow },
	})
}

// Recipes lists what was learned, the longest unused first; what only counts is among it.
func (a *App) Recipes(ctx context.Context) ([]recipe.Recipe, error) {
	data, err := newRecipeFile(ctx, a.ws).Read()
	if err != nil {
		return nil, fmt.Errorf("read the recipes: %w", err)
	}
	return recipe.Parse(data)
}

// SetRecipe puts a recipe, named by its id, into another state.
func (a *App) SetRecipe(ctx context.Context, id string, state recipe.State) error {
	return newRecipeFile(ctx, a.ws).Update(func(old []byte) ([]byte, error) { return recipe.SetState(old, id, state) })
}
