import type { ForkSchedule } from '#chainspec/forks'
import type { L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { payloadOf } from '../engine/engine.ts'
import { createWorld, type Session, type World } from './execution.ts'
import type { Batch, Channel } from './l1.ts'

export const holocene: ForkSchedule = { holocene: 0 }

/** Batches `from` to `to` with this origin; each block's transaction is the tag and its number. */
export const channel = (from: number, to: number, origin: number, tag = 'a'): Channel => ({
  batches: Array.from({ length: to - from + 1 }, (_, at): Batch => ({ number: from + at, origin, tag: `${tag}${from + at}` })),
})

/** L1 blocks 3 … 8: three L2 blocks in each, with the L1 block before as origin. */
export function mineSix({ l1 }: World, tag = 'a'): void {
  for (let block = 0; block < 6; block++) l1.mine(channel(block * 3 + 1, block * 3 + 3, l1.tip.number, tag))
}

/** What derivation makes of an L1 that is mined so: blocks 1 to the last. */
export async function chainOf(mine: (world: World) => void, schedule: ForkSchedule = holocene): Promise<readonly Payload[]> {
  const world = createWorld(schedule)
  mine(world)
  const session = world.start()
  await session.toTip()
  await session.stop()
  return session.engine.durable.chain.slice(1)
}

/** The payloads with another transaction from a number on, linked anew. */
export function forkedFrom(payloads: readonly Payload[], number: number, text: string): readonly Payload[] {
  const forked: Payload[] = []
  for (const payload of payloads) {
    const parent = forked.at(-1)
    if (payload.blockNumber < number) forked.push(payload)
    else {
      const below = parent ?? { blockNumber: payload.blockNumber - 1, blockHash: payload.parentHash }
      const [info = new Uint8Array(0)] = payload.transactions
      const transactions = [info, new TextEncoder().encode(`\u0002${text}${payload.blockNumber}`)]
      forked.push(payloadOf({ number: below.blockNumber, hash: below.blockHash }, { timestamp: payload.timestamp, transactions }))
    }
  }
  return forked
}

/** Numbers of the unsafe, safe and finalized head. */
export const numbers = (session: Session): readonly (number | undefined)[] => {
  const { heads } = session.driver.status()
  return [heads?.unsafe, heads?.safe, heads?.finalized].map((ref: L2Ref | undefined) => ref?.number)
}
