import type { GossipsubOpts } from '@libp2p/gossipsub'
import { ownAddresses } from '#lib/peers/inboundLimits'

/** Interval in which scores decay. Kept at 2 s after Denim too, so that scores decay as at other clients. */
const slotMs = 2_000
const epochSlots = 6
const decayToZero = 0.01

/** Factor per slot with which a counter reaches `decayToZero` after a number of epochs. @see libp2p specs, gossipsub v1.1 */
const decayOver = (epochs: number): number => decayToZero ** (1 / (epochs * epochSlots))

const inMeshCap = 3_600_000 / slotMs
const maxInMeshScore = 10

/**
 * Score of one topic: time in the mesh, first deliveries, invalid messages. Deliveries within the mesh are not scored: three of the four topics carry no
 * messages, and the fourth carries ten times as many after Denim.
 */
const topicScore = {
  topicWeight: 0.8,
  timeInMeshWeight: maxInMeshScore / inMeshCap,
  timeInMeshQuantum: slotMs,
  timeInMeshCap: inMeshCap,
  firstMessageDeliveriesWeight: 1,
  firstMessageDeliveriesDecay: decayOver(20),
  firstMessageDeliveriesCap: 23,
  meshMessageDeliveriesWeight: 0,
  meshMessageDeliveriesDecay: decayOver(5),
  meshMessageDeliveriesCap: 30,
  meshMessageDeliveriesThreshold: 3,
  meshMessageDeliveriesWindow: 2_000,
  meshMessageDeliveriesActivation: 4 * epochSlots * slotMs,
  meshFailurePenaltyWeight: 0,
  meshFailurePenaltyDecay: decayOver(5),
  invalidMessageDeliveriesWeight: -140.4475,
  invalidMessageDeliveriesDecay: decayOver(50),
}

/**
 * Returns the score parameters that Base nodes and op-node publish as "light".
 * @param reputation score of a peer for its answers to requests
 */
export function scoresOf(
  topics: readonly string[],
  reputation: (peer: string) => number,
): Pick<GossipsubOpts, 'scoreParams' | 'scoreThresholds'> {
  return {
    scoreParams: {
      topics: Object.fromEntries(topics.map((topic) => [topic, topicScore])),
      topicScoreCap: 34,
      appSpecificScore: reputation,
      appSpecificWeight: 1,
      IPColocationFactorWeight: -35,
      IPColocationFactorThreshold: 10,
      IPColocationFactorWhitelist: new Set(ownAddresses),
      behaviourPenaltyWeight: -16,
      behaviourPenaltyThreshold: 6,
      behaviourPenaltyDecay: decayOver(10),
      decayInterval: slotMs,
      decayToZero,
      retainScore: 100 * epochSlots * slotMs,
    },
    scoreThresholds: {
      gossipThreshold: -10,
      publishThreshold: -40,
      graylistThreshold: -40,
      acceptPXThreshold: 20,
      opportunisticGraftThreshold: 0.05,
    },
  }
}
