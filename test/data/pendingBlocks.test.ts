import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { readFlashblocks } from '#test/harness/flashblocks/replay'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'
import { hashHeader } from '#types/header'
import { encodeReceipt } from '#types/receipt'

type Recorded = { readonly blocks: readonly { readonly hash: string; readonly raw: string; readonly rawReceipts: readonly string[] }[] }

const recorded = readSharedJson<Recorded>('flashblocks/l2.json.zst')
const { genesis } = parseBaseGenesisNote(recorded)
const config = agreeWithGenesis(parseRollupConfig(readSharedJson('flashblocks/rollup.json')), genesis)
const payloads = recorded.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(fromHex(raw))))
const last = payloads.length - 1

const flashblocks = readFlashblocks().map(({ flashblock }) => flashblock)

async function openAt(number: number) {
  const execution = createExecution({
    kv: createMemoryKv(),
    evm: createWasmEvm(),
    config,
    genesis: () => genesis,
    clock: systemClock,
    log: silentLog,
  })
  const seal = async (at: number): Promise<void> => {
    const payload = payloads[at]
    if (payload === undefined) throw new Error(`block ${at} not found`)
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  for (let at = 1; at <= number; at++) await seal(at)
  return { execution, seal }
}

/** Number of pending blocks: the distance of the sealed chain from the stream. */
it.each([1, 2, 3])(
  'pending: executes every flashblock of a recorded stream with %i pending blocks, and seals each block from its flashblocks',
  async (depth) => {
    const first = flashblocks[0]?.blockNumber ?? 0
    const { execution, seal } = await openAt(first - 1)
    let sealed = first - 1
    for (const flashblock of flashblocks) {
      const { blockNumber, transactions, outcome } = flashblock
      while (blockNumber - sealed > depth) await seal(++sealed)
      expect(await takeNext(execution, flashblock)).toEqual({ kind: 'taken', gasUsed: outcome.gasUsed })
      using view = execution.view()
      const { pending } = view.heads
      const shown = pending && view.block(pending.hash)?.block
      expect(shown?.transactions.slice(shown.transactions.length - transactions.length)).toEqual(transactions)
      expect(toHex(shown?.header.logsBloom ?? new Uint8Array())).toBe(toHex(outcome.logsBloom))
      expect(shown?.header).toMatchObject({
        number: blockNumber,
        blobGasUsed: outcome.blobGasUsed,
        baseFeePerGas: payloads[blockNumber]?.baseFeePerGas ?? expect.anything(),
      })
    }
    while (sealed < last) await seal(++sealed)
    expect(execution.sizes().reused).toBe(last - first + 1)
  },
)

it('pending: gives a recorded block with all its flashblocks the receipts, root and state of the sealed one', async () => {
  const { execution, seal } = await openAt((flashblocks[0]?.blockNumber ?? 0) - 1)
  for (const [i, flashblock] of flashblocks.entries()) {
    const { blockNumber } = flashblock
    if (blockNumber > last) break
    await takeNext(execution, flashblock)
    if (flashblocks[i + 1]?.blockNumber === blockNumber) continue
    using view = execution.view()
    const id = view.heads.pending ?? expect.fail('no pending block')
    const { raw, rawReceipts } = recorded.blocks[blockNumber] ?? expect.fail('no block')
    const { header, transactions } = decodeBlock(fromHex(raw))
    expect(view.receipts(id.hash)?.map(({ receipt }) => toHex(encodeReceipt(receipt)))).toEqual(rawReceipts)
    expect(view.block(id.hash)?.block.transactions).toEqual(transactions)
    expect(view.block(id.hash)?.block.header).toMatchObject({
      transactionsRoot: header.transactionsRoot,
      gasUsed: header.gasUsed,
      logsBloom: header.logsBloom,
    })
    const shown = view.block(id.hash)?.block.header
    const passer = '0x4200000000000000000000000000000000000016' as const
    expect(view.state(id)?.account(passer as never)?.storageRoot).toBe(header.withdrawalsRoot)
    expect(shown && hashHeader({ ...shown, stateRoot: header.stateRoot, withdrawalsRoot: header.withdrawalsRoot as never })).toBe(
      hashHeader(header),
    )
    view[Symbol.dispose]()
    await seal(blockNumber)
  }
})
