package board_test

import (
	"testing"

	"github.com/autonomy-team/autonomy/board/boardtest"
)

func TestDirIsABoard(t *testing.T) {
	boardtest.Run(t, func(t *testing.T) boardtest.Harness {
		f := newFixture(t)
		return boardtest.Harness{
			Open:    func() boardtest.Store { return f.open() },
			Advance: f.advance,
			Kill:    f.kill,
		}
	})
}
