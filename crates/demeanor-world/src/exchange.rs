//! Rounds in which every worker sends parcels to others, and gets all parcels that were sent to it. Only this file uses timely.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Exchange as _, Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::alarm::{Alarm, Stopped};
use crate::citizen::Citizen;
use crate::parcel::Parcel;

/// The receiving worker, the round, and the parcel.
type Envelope<T> = (u32, u64, Parcel<T>);

/// The rounds of one worker. All workers run the same number of rounds.
pub(crate) struct Exchange<'w, T: Citizen> {
    worker: &'w mut Worker,
    input: InputHandle<u64, timely::container::CapacityContainerBuilder<Vec<Envelope<T>>>>,
    probe: ProbeHandle<u64>,
    /// The parcels that have arrived, by round. A parcel of the next round can arrive before the current round is complete.
    arrived: Rc<RefCell<BTreeMap<u64, Vec<Parcel<T>>>>>,
    round: u64,
    alarm: Arc<Alarm>,
}

impl<'w, T: Citizen> Exchange<'w, T> {
    pub(crate) fn new(worker: &'w mut Worker, alarm: Arc<Alarm>) -> Self {
        let arrived = Rc::new(RefCell::new(BTreeMap::<u64, Vec<Parcel<T>>>::new()));
        let filed = Rc::clone(&arrived);
        let (input, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (input, parcels) = scope.new_input::<Vec<Envelope<T>>>();
            let (probe, _) = parcels
                .exchange(|(to, _, _): &Envelope<T>| u64::from(*to))
                .unary::<timely::container::CapacityContainerBuilder<Vec<()>>, _, _, _>(
                    Pipeline,
                    "file",
                    move |_, _| {
                        move |input, _| {
                            input.for_each_stamp(|_, parcels| {
                                for (_, round, parcel) in
                                    parcels.flat_map(|parcels: &mut Vec<Envelope<T>>| parcels.drain(..))
                                {
                                    filed.borrow_mut().entry(round).or_default().push(parcel);
                                }
                            });
                        }
                    },
                )
                .probe();
            (input, probe)
        });
        alarm.watch();
        Self { worker, input, probe, arrived, round: 0, alarm }
    }

    /// Sends parcels. Returns all parcels that were sent to this worker in this round, in any order.
    pub(crate) fn round(
        &mut self,
        parcels: impl IntoIterator<Item = (u32, Parcel<T>)>,
    ) -> Result<Vec<Parcel<T>>, Stopped> {
        for (to, parcel) in parcels {
            self.input.send((to, self.round, parcel));
        }
        let next = self.round + 1;
        self.input.advance_to(next);
        while self.probe.less_than(&next) {
            self.alarm.check()?;
            // An alarm unparks the thread. The time limit is needed because timely's own parking can lose this wake-up.
            self.worker.step_or_park(Some(Duration::from_millis(100)));
        }
        let parcels = self.arrived.borrow_mut().remove(&self.round).unwrap_or_default();
        self.round = next;
        Ok(parcels)
    }

    pub(crate) fn index(&self) -> u32 {
        u32::try_from(self.worker.index()).unwrap_or(u32::MAX)
    }

    pub(crate) fn peers(&self) -> u32 {
        u32::try_from(self.worker.peers()).unwrap_or(u32::MAX)
    }
}
