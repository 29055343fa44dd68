import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import { Attributes } from '#test/harness/chain/growingChain'
import type { RandomDeposits } from '#test/harness/chain/randomDeposits'
import { dice } from '#test/harness/dice'
import type { Payload } from '#types/payload'
import type { OpenChain } from '../../bench/rpc/chains.ts'
import type { Follower } from './ways.ts'

const depositsOfBlock = 24
/** Distance of the finalized head: reorgs do not go below it. */
export const finalizedBehind = 16

/** Chain that grows on a node and on its followers, with a reorg after every thirtieth block on average. */
export class Growth {
  readonly chain: Payload[]
  reorgs = 0
  deepest = 0
  readonly #deposits: RandomDeposits
  readonly #attributes: Attributes
  readonly #config: RollupConfig
  readonly #roll: (below: number) => number

  constructor(genesis: Payload, deposits: RandomDeposits, config: RollupConfig, seed: number) {
    this.chain = [genesis]
    this.#deposits = deposits
    this.#config = config
    this.#attributes = new Attributes(config, genesis)
    this.#roll = dice(seed + 1)
  }

  /** @param stable block below which no reorg goes */
  async add(builder: OpenChain, followers: readonly Follower[], stable: number, transactions?: readonly Uint8Array[]): Promise<void> {
    const tip = this.chain.length - 1
    const depth = this.#roll(30) === 0 ? Math.min(this.#roll(8), tip - Math.max(stable, tip - finalizedBehind + 1)) : 0
    if (depth > 0) {
      this.chain.length -= depth
      this.reorgs++
      this.deepest = Math.max(this.deepest, depth)
    }
    for (let i = 0; i <= depth; i++) {
      await this.#build(builder, followers, (i === 0 ? transactions : undefined) ?? this.#deposits.next(depositsOfBlock))
    }
    const heads = this.#heads()
    for (const node of [builder.execution, ...followers]) await node.setHeads(heads)
    if (this.#roll(10) > 0) return
    for (const node of [builder.execution, ...followers]) node.commit()
  }

  async #build(builder: OpenChain, followers: readonly Follower[], transactions: readonly Uint8Array[]): Promise<void> {
    const parent = this.chain.at(-1) as Payload
    const attributes = this.#attributes.on(parent.blockHash, transactions)
    const built = await builder.execution.build({ number: parent.blockNumber, hash: parent.blockHash }, attributes)
    if (built.kind === 'invalid') throw new Error(built.reason)
    for (const follower of followers) await follower.insert(built.payload)
    this.chain.push(built.payload)
    this.#attributes.built(built.payload)
  }

  #heads(): Heads {
    const refOf = (behind: number) => l2RefOf(this.#config, this.chain[Math.max(0, this.chain.length - 1 - behind)] as Payload)
    return { unsafe: refOf(0), safe: refOf(finalizedBehind - 4), finalized: refOf(finalizedBehind) }
  }
}
