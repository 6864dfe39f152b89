//! The words that the file can use: the creatures' values, behaviors and messages.

use demeanor::definition::Vocabulary;

use super::behaviors::{
    BeBorn, Blast, Brace, Charge, Cry, Frighten, Hide, Look, Mend, Raise, Reload, Revive, Shoot, Stride, Strike,
    Vanish, Walk,
};
use super::creature::{Creature, Told};
use super::halls::distance;
use super::world::TICKS_PER_SECOND;

pub(crate) fn vocabulary() -> Vocabulary<Creature> {
    let vocabulary = Vocabulary::new()
        .ticks_per_second(TICKS_PER_SECOND.into())
        .random(|creature: &mut Creature, _| creature.random());
    messages(behaviors(values(vocabulary)))
}

fn values(vocabulary: Vocabulary<Creature>) -> Vocabulary<Creature> {
    vocabulary
        .value("health", |creature, _| creature.health)
        .value("full_health", |creature, _| creature.body.health)
        .value("armor", |creature, _| creature.body.armor + creature.brace)
        .value("ammo", |creature, _| creature.ammo.into())
        .value("reach", |creature, _| creature.body.reach)
        .value("hearing", |creature, _| creature.body.hearing)
        .value("toughness", |creature, _| creature.body.toughness)
        .value("reaction", |creature, _| creature.body.reaction * creature.slowness)
        .value("stride", |creature, _| creature.body.stride)
        .value("reload_time", |creature, _| creature.body.reload * creature.slowness)
        .field("speed", |creature, _| creature.body.speed, |creature, speed| creature.body.speed = speed)
        .field("courage", |creature, _| creature.body.courage, |creature, courage| creature.body.courage = courage)
        .flag("enemy_visible", |creature, view| creature.enemy_seen(view.world).is_some())
        .value("enemy_distance", |creature, view| creature.enemy_distance(view.world))
        .value("enemies_near", |creature, _| creature.enemies_near.into())
        .value("friends_near", |creature, _| creature.friends_near.into())
        .value("corpse_distance", |creature, view| creature.corpse_distance(view.world))
        .value("home_distance", |creature, _| distance(creature.at, creature.home))
        .value("goal_distance", |creature, _| distance(creature.at, creature.goal))
}

fn behaviors(vocabulary: Vocabulary<Creature>) -> Vocabulary<Creature> {
    vocabulary
        .behavior_with("body", BeBorn)
        .behavior("look", &Look)
        .behavior_with("walk", Walk)
        .behavior_with("stride", Stride)
        .behavior_with("strike", Strike)
        .behavior_with("shoot", Shoot)
        .behavior_with("blast", Blast)
        .behavior_with_states("charge", |params, states| Charge::new(&params, states))
        .behavior_with("cry", Cry)
        .behavior_with("frighten", Frighten)
        .behavior_with("brace", Brace)
        .behavior("hide", &Hide)
        .behavior_with("mend", Mend)
        .behavior("reload", &Reload)
        .behavior_with("raise", Raise)
        .behavior_with("revive", Revive)
        .behavior("vanish", &Vanish)
}

fn messages(mut vocabulary: Vocabulary<Creature>) -> Vocabulary<Creature> {
    for (index, name) in Told::NAMES.into_iter().enumerate() {
        vocabulary = vocabulary.message(name, move |told| told.index() == index);
    }
    // A field is only read from messages that have it.
    let vocabulary = vocabulary.message_flag("hit", "is_fire", |told| matches!(told, Told::Hit { is_fire: true, .. }));
    macro_rules! with_numbers {
        ($($name:literal: $field:ident of $kind:ident,)*) => {
            vocabulary$(.message_value($name, stringify!($field), |told| match *told {
                Told::$kind { $field, .. } => $field.into(),
                _ => f64::NAN,
            }))*
        };
    }
    with_numbers! {
        "hit": damage of Hit,
        "killed": damage of Killed,
        "noise": loudness of Noise,
        "noise": distance of Noise,
        "dread": strength of Dread,
        "dread": distance of Dread,
        "raise": distance of Raise,
        "bell": tolls of Bell,
    }
}
