import type { ForkSchedule } from '#chainspec/forks'
import type { L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { payloadOf } from '../engine/engine.ts'
import { createWorld, type Session, type World } from './execution.ts'
import type { Batch, Channel } from './l1.ts'

export const holocene: ForkSchedule = { holocene: 0 }

/** Channel with batches `from` to `to` and this origin. Each block's transaction is the tag and the block number. */
export const channel = (from: number, to: number, origin: number, tag = 'a'): Channel => ({
  batches: Array.from({ length: to - from + 1 }, (_, at): Batch => ({ number: from + at, origin, tag: `${tag}${from + at}` })),
})

/** Mines L1 blocks 3 … 8, each with three L2 blocks whose origin is the L1 block before. */
export function mineSix({ l1 }: World, tag = 'a'): void {
  for (let block = 0; block < 6; block++) l1.mine(channel(block * 3 + 1, block * 3 + 3, l1.tip.number, tag))
}

/** Returns the chain that derivation makes from an L1: blocks 1 to the last. */
export async function chainOf(mine: (world: World) => void, schedule: ForkSchedule = holocene): Promise<readonly Payload[]> {
  const world = createWorld(schedule)
  mine(world)
  const session = world.start()
  await session.toTip()
  await session.stop()
  return session.engine.durable.chain.slice(1)
}

/** Replaces the transactions after the first in each payload from a number on; later payloads get new parent hashes. */
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

/** Numbers of the unsafe, the safe and the finalized head. */
export const numbers = (session: Session): readonly (number | undefined)[] => {
  const { heads } = session.driver.status()
  return [heads?.unsafe, heads?.safe, heads?.finalized].map((ref: L2Ref | undefined) => ref?.number)
}
