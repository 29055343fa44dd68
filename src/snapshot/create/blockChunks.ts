import { payloadOfBlock } from '#block/execution/payloadBlock'
import { ancestorsNeeded, type GivenBlock } from '#blockchain/base/baseBlocks'
import { readBlock, readCanonicalHash, readHeader, readReceipts } from '#blockchain/chainStore'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { KvReader, SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { encodeReceipt } from '#types/receipt'
import { snapshotFault } from '../faults.ts'
import { encodeBlocks } from '../format/chunks.ts'
import type { ChunkEntry } from '../format/manifest.ts'
import type { ChunkFiles } from './chunkFiles.ts'

/** Blocks of a chunk, at most. */
const blockBytesOfChunk = 8 * 2 ** 20
const mostBlocks = 20_000
export type BlockSource = { readonly source: SnapshotSource; readonly files: ChunkFiles; readonly config: RollupConfig }

const sizeOf = ({ transactions = [], receipts = [] }: GivenBlock): number =>
  700 + [...transactions, ...receipts].reduce((sum, each) => sum + each.length, 0)

/**
 * Writes the blocks that a chain needs to begin with a block: see `GivenBlock`.
 * @param parts of all blocks, or of those that a start needs
 * @returns the chunks, and the number of the first block
 * @throws Fault HISTORY_INCOMPLETE (fatal)
 */
export async function blockChunks(
  source: BlockSource,
  base: BlockId,
  parts: 'all' | 'needed',
): Promise<{ readonly entries: readonly ChunkEntry[]; readonly first: number }> {
  const chunks: GivenBlock[][] = [[]]
  let bytes = 0
  let first = base.number
  for (const block of parts === 'all' ? wholeDownFrom(source, base) : blocksDownFrom(source, base)) {
    if (bytes >= blockBytesOfChunk) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)?.push(block)
    first = block.header.number
    bytes += sizeOf(block)
  }
  const entries: ChunkEntry[] = []
  for (const chunk of chunks.reverse()) entries.push(await source.files.add(encodeBlocks(chunk.reverse()), { kind: 'blocks' }))
  return { entries, first }
}

function wholeAt(source: SnapshotSource, number: number): GivenBlock {
  using reader = source.snapshot()
  const hash = readCanonicalHash(reader, number)
  const block = hash && givenAt(reader, { number, hash })
  if (block?.receipts === undefined) throw snapshotFault('HISTORY_INCOMPLETE', { number })
  return block
}

/** Returns a block with the parts that are stored. */
function givenAt(reader: KvReader, id: BlockId): GivenBlock | undefined {
  const header = readHeader(reader, id)
  const block = header && readBlock(reader, id)
  const receipts = block && readReceipts(reader, id)
  return header && { header, transactions: block?.transactions, receipts: receipts?.map(({ receipt }) => encodeReceipt(receipt)) }
}

/** Iterates over blocks with all parts, down to one that is a channel timeout older in L1, then over headers. Parts that are pruned are missing. */
function* blocksDownFrom({ source, config }: BlockSource, base: BlockId): Generator<GivenBlock> {
  const isTimedOut = timeoutBelow(config)
  let [isWhole, hasReceipts] = [true, true]
  const lowest = Math.max(config.genesis.l2.number, base.number - mostBlocks)
  for (let number = base.number; number >= lowest; number--) {
    if (!isWhole && base.number - number > ancestorsNeeded) return
    using reader = source.snapshot()
    const hash = number === base.number ? base.hash : readCanonicalHash(reader, number)
    const found = hash && givenAt(reader, { number, hash })
    if (found === undefined) return
    isWhole &&= found.transactions !== undefined
    hasReceipts &&= isWhole && found.receipts !== undefined
    yield {
      header: found.header,
      transactions: isWhole ? found.transactions : undefined,
      receipts: hasReceipts ? found.receipts : undefined,
    }
    if (isWhole && isTimedOut(found)) isWhole = false
  }
}

/** Iterates over the same blocks, each with all parts. */
function* wholeDownFrom({ source, config }: BlockSource, base: BlockId): Generator<GivenBlock> {
  const isTimedOut = timeoutBelow(config)
  let isOld = false
  for (let number = base.number; number >= config.genesis.l2.number; number--) {
    const block = wholeAt(source, number)
    yield block
    isOld ||= isTimedOut(block)
    if (isOld && base.number - number > ancestorsNeeded) return
  }
}

/** Returns whether a block is a channel timeout older in L1 than the first one of the calls. */
function timeoutBelow(config: RollupConfig): (block: GivenBlock) => boolean {
  const timeout = 2 * Math.max(config.channelTimeoutBlocks, config.channelTimeoutGraniteBlocks)
  let lowest: number | undefined
  return ({ header, transactions = [] }) => {
    const origin = l2RefOf(config, payloadOfBlock({ header, transactions })).l1Origin.number
    lowest ??= origin - timeout
    return origin <= lowest
  }
}
