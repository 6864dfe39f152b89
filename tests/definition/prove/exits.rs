//! Exits that are never taken, and states that are never reached, or never left.

use super::assert_found;

#[test]
fn a_condition_whose_parts_exclude_each_other_is_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'health < 20 and x and health > 50' }, { to = 'c', when = 'x' }]
        #^ 38 contradiction: this condition never holds [a time,health,x;0,0,false; a]
        states.b.final = true
        #^ 8 unreachable: state `b` can never be reached [a time;0; a]
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x and (health < 2 and health >= 2 or y)' }]
        #^ 38 contradiction: a part of this condition never holds: `health < 2 and health >= 2`
        states.b.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'ammo < armor and ammo > armor' }, { to = 'b', when = 'x' }]
        #^ 38 contradiction: this condition never holds [a time;0; a]
        states.b.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'health * 2 > 10 and health <= 5' }, { to = 'b', when = 'x' }]
        #^ 38 contradiction: this condition never holds [a time,health,x;0,6,false; a]
        states.b.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'in(b) and not in(b)' }, { to = 'b', when = 'time_in_state > 3 and time_in_state < 2' }, { to = 'b', when = 'x' }]
        #^ 38 contradiction: this condition never holds [a time,x;0,false; a]
        #^ 82 contradiction: this condition never holds [a time,x;0,false; a]
        states.b.final = true
        ",
    );
}

#[test]
fn an_entry_condition_that_never_holds_is_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x' }, { to = 'c', when = 'not x' }]
        states.b.enter_when = 'health > 30 and health < 20'
        #^ 8 unreachable: state `b` can never be reached [a time,x;0,true; a]
        #^ 23 guard-never-holds: state `b` can never be entered: its `enter_when` never holds [a time,health,x;0,0,true; a]
        states.b.final = true
        states.c.final = true
        ",
    );
}

#[test]
fn an_exit_that_is_never_taken_is_found_with_the_one_before_it() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'health < 20' }, { to = 'c', when = 'health < 10 and x' }, { to = 'c', when = 'x' }]
        #^ 55 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,health,x;0,0,true; a>b b]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'health < 20' }, { to = 'b', when = 'health >= 10' }, { to = 'c', when = 'health == 15 or health > 30' }, { to = 'c' }]
        #^ 92 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,health;0,31; a>b b]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', on = 'hit', when = 'message.damage > 3' }, { to = 'c', on = 'hit', when = 'message.damage > 5' }, { to = 'c', on = 'fall' }]
        #^ 74 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,message;0,hit(damage=6); a>b b]
        states.b.final = true
        states.c.final = true

        initial = 'p'
        states.p.initial = 'a'
        states.p.exits = [{ to = 'b', after = 5 }]
        states.a.parent = 'p'
        states.a.exits = [{ to = 'c', after = 10 }, { to = 'c', when = 'x' }]
        #^ 19 never-taken: this exit is never taken: an earlier exit of `p`, to `b`, is taken whenever this condition holds [a time,x;0,false;10,; a>b b]
        states.b.final = true
        states.c.final = true

        initial = 'a'
        global = 'g'
        states.g.exits = [{ to = 'b', when = 'health <= 0' }]
        states.a.exits = [{ to = 'c', when = 'health < 0' }, { to = 'c', when = 'x' }]
        #^ 19 never-taken: this exit is never taken: an earlier exit of `g`, to `b`, is taken whenever this condition holds [a time,health;0,-1; a>b b]
        states.b.final = true
        states.c.final = true
        ",
    );
}

#[test]
fn an_exit_whose_target_cannot_be_entered_then_is_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'health < 20' }, { to = 'b', when = 'x' }]
        #^ 19 never-taken: this exit is never taken: `b` cannot be entered while its condition holds [a time,health;0,0; a]
        states.b.enter_when = 'health > 30'
        states.b.final = true
        ",
    );
}

#[test]
fn an_exit_that_leads_nowhere_else_is_found() {
    assert_found(
        "
        initial = 'p'
        states.p.initial = 'a'
        states.p.exits = [{ to = 'a', when = 'x' }, { to = 'b', when = 'y' }]
        #^ 19 never-taken: this exit is never taken: `a` is active already wherever it is tried [a time,x;0,true; a]
        states.a.parent = 'p'
        states.b.final = true

        initial = 'p'
        states.p.initial = 'a'
        states.p.exits = [{ to = 'b', when = 'x' }]
        #^ 19 never-taken: this exit is never taken: `a` is final, and the exit is not its own [a time,x;0,true; a]
        states.a.parent = 'p'
        states.a.final = true
        states.b.final = true
        states.c.entry = true
        states.c.exits = [{ to = 'b', when = 'y' }]

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'in(c)' }, { to = 'b', when = 'x' }]
        #^ 19 never-taken: this exit is never taken: its condition does not hold while `a` is active [a time;0; a]
        states.b.final = true
        states.c.entry = true
        states.c.exits = [{ to = 'b', when = 'y' }]

        initial = 'a'
        states.a.exits = [{ to = 'b', always = true, when = 'x' }, { to = 'c', always = true, when = 'not x' }, { to = 'c', when = 'y' }]
        #^ 105 never-taken: this exit is never taken: an earlier exit, such as the one to `b`, is taken whenever this condition holds [a time,x,y;0,true,true; a>b b]
        states.b.final = true
        states.c.final = true
        ",
    );
}

#[test]
fn a_state_that_no_situation_reaches_is_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x' }, { to = 'c', when = 'x and y' }]
        #^ 45 never-taken: this exit is never taken: an earlier exit, to `b`, is taken whenever this condition holds [a time,x,y;0,true,true; a>b b]
        states.b.final = true
        states.c.exits = [{ to = 'd', when = 'x' }]
        #^ 8 unreachable: state `c` can never be reached [a time,x,y;0,true,true; a>b b]
        states.d.final = true
        #^ 8 unreachable: state `d` can never be reached [- time; a]
        ",
    );
}

#[test]
fn a_state_that_cannot_be_left_any_more_is_found() {
    assert_found(
        "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x and time_in_state < 3' }]
        #^ 8 no-way-out: state `a` has no way out after 3 s in it [a time,x;0,false; a]
        states.b.final = true

        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'x and not x' }]
        #^ 8 no-way-out: state `a` has no way out [a time,x;0,false; a]
        #^ 38 contradiction: this condition never holds [a time,x;0,true; a]
        states.b.entry = true
        states.b.final = true

        initial = 'p'
        states.p.initial = 'a'
        states.p.exits = [{ to = 'c', when = 'x and time_in(p) <= 2' }]
        states.a.parent = 'p'
        #^ 8 no-way-out: state `a` has no way out after 2 s in it [a time,x,y;0,false,false; a]
        states.a.exits = [{ to = 'b', when = 'y and time_in_state < 1' }]
        states.b.parent = 'p'
        states.b.exits = [{ to = 'a', when = 'x' }]
        states.c.final = true
        ",
    );
}

#[test]
fn what_one_machine_has_from_another_it_may_leave_unused() {
    assert_found(
        "
        [machines.imp]
        initial = 'stand'
        states.stand.exits = [{ to = 'chase', when = 'seen' }, { to = 'chase', on = 'noise' }]
        states.chase.exits = [{ to = 'stand', when = 'not seen' }, { to = 'stand', when = 'tired and not seen' }]
        #^ 60 never-taken: this exit is never taken: an earlier exit, to `stand`, is taken whenever this condition holds [chase time,seen,tired;0,false,true; chase>stand stand]
        [machines.baron]
        like = 'imp'
        states.stand.exits = [{ to = 'stand', after = 1 }]
        ",
    );
}

#[test]
fn a_linked_machine_is_proved_in_the_state_that_runs_it() {
    assert_found(
        "
        [machines.guard]
        initial = 'patrol'
        states.patrol.machine = 'round'
        states.patrol.exits = [{ to = 'rest', on = 'done' }, { to = 'rest', when = 'tired' }]
        states.rest.exits = [{ to = 'patrol', after = 10, when = 'not tired' }]
        [machines.round]
        initial = 'walk'
        states.walk.exits = [{ to = 'home', when = 'tired' }, { to = 'home', after = 9 }]
        states.home.final = true
        ",
    );
}
