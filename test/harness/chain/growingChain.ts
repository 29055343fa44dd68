import { timestampOf } from '#chainspec/blockTime'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Block, SafeHead } from '#derive/ports'
import { addressOf, mineL1 } from '#test/harness/derive/l1'
import type { Hash } from '#types/ids'
import { parseAddress } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { TransactionList } from '../../../src/derive/codec/transactionList.ts'
import { payloadAttributes } from '../../../src/derive/rules/payloadAttributes.ts'
import { type DevnetChain, makeDevnetChain } from '../../../src/devnet/devnetChain.ts'
import { forksUpTo } from '../../../src/devnet/forkSchedule.ts'
import { admin } from './randomDeposits.ts'

const [genesisTimeSec, l1BlockSec, l2BlockSec] = [1_794_000_000, 12, 1]

/** A devnet chain whose forks up to one are active from block 1 on. */
export function chainWith(fork: string): DevnetChain {
  const l1 = mineL1(undefined, genesisTimeSec, {})
  const options = {
    ...{ chainId: 901, l1ChainId: 900, blockTimeSec: l2BlockSec, forks: forksUpTo(fork, l2BlockSec) },
    ...{ accounts: [admin], batcher: addressOf('batcher'), activationAdmin: admin },
  }
  const contracts = { portal: parseAddress(`0x${'bb'.repeat(20)}`), systemConfig: parseAddress(`0x${'cc'.repeat(20)}`) }
  return makeDevnetChain(options, { genesis: l1.ref, genesisTimeSec, ...contracts })
}

type Place = { readonly head: SafeHead; readonly origin: L1Block }

/** Attributes of blocks on any known block, so that branches can be built. */
export class Attributes {
  readonly #config: RollupConfig
  readonly #places = new Map<Hash, Place>()

  constructor(config: RollupConfig, genesis: Payload) {
    this.#config = config
    this.#add(genesis, mineL1(undefined, genesisTimeSec, {}))
  }

  /** Returns the attributes of a child of a block. @param transactions deposits */
  on(parent: Hash, transactions: readonly Uint8Array[]): PayloadAttributes {
    const { head, origin } = this.#childOrigin(parent)
    const epoch = { ...origin.ref, header: origin.header, deposits: [], configReceipts: [] }
    const attributes = payloadAttributes(this.#config, head, epoch, TransactionList.of(transactions))
    if (typeof attributes === 'string') throw new Error(attributes)
    return attributes
  }

  /** Keeps what children of a block need. */
  built(payload: Payload): void {
    this.#add(payload, this.#childOrigin(payload.parentHash).origin)
  }

  #add(payload: Payload, origin: L1Block): void {
    const head = { ref: l2RefOf(this.#config, payload), systemConfig: systemConfigOf(this.#config, payload) }
    this.#places.set(payload.blockHash, { head, origin })
  }

  #childOrigin(parent: Hash): Place {
    const place = this.#places.get(parent)
    if (place === undefined) throw new RangeError(`block ${parent} is unknown`)
    const { head, origin } = place
    const due = origin.ref.timestamp + l1BlockSec
    const isNext = timestampOf(this.#config, head.ref.number + 1) >= due
    return { head, origin: isNext ? mineL1(origin, due, {}) : origin }
  }
}
