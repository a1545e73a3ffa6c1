package engine

import (
	"fmt"

	"llmtop/engine/model"
)

// RandomDraft is the DraftModelPath of the embedded draft model with seeded random
// weights: it takes the time of the real one and guesses wrong, to show what
// speculation costs when it does not pay.
const RandomDraft = "random"

// randomSeed is for everyone the same.
const randomSeed = 1

// openDraft loads the draft model, which must have the vocabulary of the main one.
func openDraft(c Config, main *model.File) (*model.Model, error) {
	file, err := draftFile(c.DraftModelPath)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the model keeps what it needs
	vocab, err := file.Vocab()
	if err != nil {
		return nil, fmt.Errorf("reading its vocabulary: %w", err)
	}
	mains, err := main.Vocab()
	if err != nil {
		return nil, fmt.Errorf("reading the main model's vocabulary: %w", err)
	}
	if err := sameVocabulary(mains.Tokens, vocab.Tokens); err != nil {
		return nil, err
	}
	return model.Load(file, model.Options{Threads: c.Threads})
}

func draftFile(path string) (*model.File, error) {
	switch path {
	case "", RandomDraft:
		file, err := model.Parse(model.OncallDraft())
		if err == nil && path == RandomDraft {
			file, err = file.Randomised(randomSeed)
		}
		return file, err
	}
	return model.Open(path)
}

// sameVocabulary checks that two vocabularies give the same ids to the same tokens.
func sameVocabulary(main, draft []string) error {
	if len(main) != len(draft) {
		return fmt.Errorf("its vocabulary has %d tokens, the main model's %d; they must be equal", len(draft), len(main))
	}
	for id := range main {
		if main[id] != draft[id] {
			return fmt.Errorf("its token %d is another than the main model's; the vocabularies must be equal", id)
		}
	}
	return nil
}
