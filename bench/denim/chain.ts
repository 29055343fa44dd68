// A Denim chain with the devnet's genesis: blocks 200 ms apart on an L1 whose blocks are 12 s apart.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { timestampOf } from '#chainspec/blockTime'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import type { L1Block, SafeHead } from '#derive/ports'
import { addressOf, mineL1 } from '#test/harness/derive/l1'
import type { Address } from '#types/ids'
import { parseAddress } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { TransactionList } from '../../src/derive/codec/transactionList.ts'
import { payloadAttributes } from '../../src/derive/rules/payloadAttributes.ts'
import { makeDevnetChain } from '../../src/devnet/devnetChain.ts'
import { forksUpTo } from '../../src/devnet/forkSchedule.ts'
import { addBlock, type GrowingChain, type OpenChain, openChain } from '../rpc/chains.ts'
import { denimChainId, senders } from './senders.ts'

const [genesisTimeSec, l1BlockSec, l2BlockSec] = [1_794_000_000, 12, 1]
/** Half of the gas limit is the target. Blocks of 8 Mgas, whose data counts for 13 Mgas, are below it, so the base fee never exceeds that of the transactions. */
const eip1559 = { eip1559Elasticity: 2, eip1559Denominator: 250 }

/** A chain with its files, as commands read them. */
export type DenimChain = {
  readonly config: RollupConfig
  readonly genesisFile: string
  readonly rollupFile: string
  readonly genesis: () => Genesis
  /** Opens its data directory, new or with blocks. */
  readonly open: (datadir: string) => Promise<OpenChain>
}

/** @param accounts that are rich in genesis */
export function createDenimChain(folder: string, accounts: readonly Address[]): DenimChain {
  const l1 = mineL1(undefined, genesisTimeSec, {})
  const options = {
    ...{ chainId: denimChainId, l1ChainId: 900, blockTimeSec: l2BlockSec, forks: forksUpTo('denim', l2BlockSec) },
    ...{ accounts, batcher: addressOf('batcher'), activationAdmin: senders[0] as Address },
  }
  const portal = parseAddress(`0x${'bb'.repeat(20)}`)
  const chain = makeDevnetChain(options, { genesis: l1.ref, genesisTimeSec, portal, systemConfig: parseAddress(`0x${'cc'.repeat(20)}`) })
  const [genesisFile, rollupFile] = [join(folder, 'genesis.json'), join(folder, 'rollup.json')]
  writeFileSync(genesisFile, JSON.stringify(chain.genesisNote))
  writeFileSync(rollupFile, JSON.stringify(toRollupJson(chain.config)))
  return { config: chain.config, genesisFile, rollupFile, genesis: chain.genesis, open: (datadir) => openChain(datadir, chain.genesis) }
}

/** Adds blocks to a chain, each on an L1 origin that is old enough. */
export class DenimBlocks {
  readonly #config: RollupConfig
  readonly #chain: GrowingChain
  #head: SafeHead
  #origin: L1Block

  private constructor(config: RollupConfig, chain: GrowingChain, head: Payload) {
    this.#config = config
    this.#chain = chain
    this.#head = safeHeadOf(config, head)
    this.#origin = mineL1(undefined, genesisTimeSec, {})
    while (this.#origin.ref.number < this.#head.ref.l1Origin.number) this.#mineL1()
  }

  /** @param chain with its genesis block, and blocks that an instance of this class added */
  static async on(config: RollupConfig, chain: GrowingChain): Promise<DenimBlocks> {
    const head = await chain.execution.payload(chain.execution.published.heads.unsafe.hash)
    if (head === undefined) throw new Error('no head')
    return new DenimBlocks(config, chain, head)
  }

  /** Builds the next block and makes it the head. */
  async add(transactions: readonly Uint8Array[] = []): Promise<Payload> {
    const payload = await addBlock(this.#chain, this.#attributes(transactions))
    this.#head = safeHeadOf(this.#config, payload)
    return payload
  }

  #attributes(transactions: readonly Uint8Array[]): PayloadAttributes {
    const isNext = timestampOf(this.#config, this.#head.ref.number + 1) >= this.#origin.ref.timestamp + l1BlockSec
    if (isNext) this.#mineL1()
    const epoch = { ...this.#origin.ref, header: this.#origin.header, deposits: [], configReceipts: [] }
    const attributes = payloadAttributes(this.#config, this.#head, epoch, TransactionList.of(transactions))
    if (typeof attributes === 'string') throw new Error(attributes)
    return attributes
  }

  #mineL1(): void {
    this.#origin = mineL1(this.#origin, this.#origin.ref.timestamp + l1BlockSec, {})
  }
}

function safeHeadOf(config: RollupConfig, payload: Payload): SafeHead {
  const systemConfig = systemConfigOf(config, payload)
  return { ref: l2RefOf(config, payload), systemConfig: payload.blockNumber === 0 ? systemConfig : { ...systemConfig, ...eip1559 } }
}
