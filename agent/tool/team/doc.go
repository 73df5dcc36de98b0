// Package team is the toolset with which a member works with the others: the board, the mail, and for the lead the crew.
//
// The tools carry no authority. What they write is validated by the board and the mailboxes, and success is not theirs
// to declare: complete_task only claims that the task is done, the loop evaluates the claim, and who runs the member
// writes the board.
package team
