import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { Genesis } from '#chainspec/genesis'
import { encodePayload } from '#engine/payloadJson'
import { bytesFromBigint, concatBytes, emptyBytes } from '#lib/bytes'
import { silentLog } from '#lib/log'
import { importFile } from '#node/importFile'
import { encodeDeposit } from '#types/deposit'
import { zeroHash } from '#types/ids'
import { accountOf, scheduleTo, signedBy, smallChain } from '../chain/blocks.ts'
import { buildChain, builtGenesis } from '../chain/executedBlocks.ts'
import { createManualClock } from '../clock.ts'
import { testAccount, testAddress } from '../evm/sessions.ts'

/** SSTORE(first word of the calldata, second word), LOG1 without data, first word */
const contract = testAddress(0x55)
const chain = smallChain(scheduleTo('isthmus'), [testAccount(contract, { nonce: 1n, code: '0x6020355f35555f355f5fa100' })])
/** Genesis of the stored chain. */
export const storedGenesis: Genesis = chain.genesis
const word = (value: number): Uint8Array => bytesFromBigint(BigInt(value), 32)

/** A deposit that several blocks contain: one hash with several places. */
const repeated = encodeDeposit({
  type: 0x7e,
  sourceHash: zeroHash,
  from: accountOf('depositor'),
  to: accountOf('receiver'),
  mint: 1n,
  value: 1n,
  gasLimit: 50_000n,
  isSystemTransaction: false,
  data: emptyBytes,
})

/** Payloads of a chain: each block writes a slot of one contract, which logs it, and creates an account; each tenth one has the same deposit. */
function* payloadLines(blocks: number): Generator<string> {
  const transactions = Array.from({ length: blocks }, (_, at) => [
    ...(at % 10 === 4 ? [repeated] : []),
    signedBy('alice', { nonce: BigInt(2 * at), to: contract, gasLimit: 100_000n, data: concatBytes(word(at % 40), word(at + 1)) }),
    signedBy('alice', { nonce: BigInt(2 * at + 1), to: accountOf(`account ${at}`), value: 1n }),
  ])
  for (const { block } of buildChain(chain.config, builtGenesis(chain), transactions)) {
    const payload = payloadOfBlock(block, block.hash)
    yield JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot })
  }
}

/** Writes a chain of blocks to a data directory, as `basalt import` does. Blocks that are there already are skipped. */
export async function storedChain(datadir: string, blocks: number): Promise<void> {
  await importFile({ clock: createManualClock(), log: silentLog }, { genesis: chain.genesis, datadir, lines: payloadLines(blocks) })
}
