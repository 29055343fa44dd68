import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { parsePayload } from '#engine/payloadJson'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { accountOf, hashOf, signedBy } from '#test/harness/chain/blocks'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { type Address, parseAddress, parseHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { decodeTransaction, type FeeMarketTransaction } from '#types/transaction'
import { addBlock, openChain, userDeposit } from './chains.ts'
import type { World } from './servers.ts'

/** gas of one block: an estimate from the recorded gas per transaction */
const blockGas = 12_000_000n
/** senders: our own accounts, whose keys we have */
const senders = Array.from({ length: 200 }, (_, index) => ({ name: `mixed ${index}`, address: accountOf(`mixed ${index}`) }))
/** deployer and minter of the recorded blocks' token */
const minter = parseAddress('0x4762fb9bf1a8e6d71b3a0d2b6c1d6972969ed8b7')
const mintSelector = fromHex('0x40c10f19')
const fewestTransactions = 500
const toldEvery = 100

type Recorded = {
  readonly token: Address
  readonly last: Payload
  readonly mix: readonly FeeMarketTransaction[]
  readonly gasEach: bigint
}

/** Returns the calls in the recorded blocks. */
function readMix(): Recorded {
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trimEnd().split('\n')
  const payloads = lines.map((line) => {
    const { p, root } = JSON.parse(line) as { p: unknown; root: string }
    return parsePayload(p, parseHash(root))
  })
  const [, second] = payloads
  const last = payloads.at(-1)
  const minting = second?.transactions.map((raw) => decodeTransaction(raw)).find(({ type, to }) => type === 2 && to !== null)
  const full = payloads.filter(({ transactions }) => transactions.length > fewestTransactions)
  const mix = full.slice(0, 3).flatMap(({ transactions }) => transactions.slice(1).map((raw) => decodeTransaction(raw)))
  const gas = full.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  const count = full.reduce((sum, { transactions }) => sum + transactions.length, 0)
  if (!last || !minting?.to) throw new Error('unexpected recorded blocks')
  return { token: minting.to, last, mix: mix.filter((tx) => tx.type === 2), gasEach: gas / BigInt(count) }
}

const word = (value: bigint): Uint8Array => fromHex(`0x${value.toString(16).padStart(64, '0')}`)
const minted = 10n ** 24n

/**
 * Makes a chain of blocks of about 12 Mgas of the recorded mix on the world's head. The first block funds our accounts, which sign the others. They
 * are built in this process, by the sequencer's builder, on a copy of the data.
 */
export async function buildMixedBlocks(world: World, count: number): Promise<readonly Payload[]> {
  const { token, last, mix, gasEach } = readMix()
  const datadir = join(world.folder, 'builder')
  cpSync(world.datadir, datadir, { recursive: true })
  const { genesis } = parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json'))
  await using chain = await openChain(datadir, () => genesis)
  const [l1Attributes] = last.transactions
  if (l1Attributes === undefined) throw new Error('an empty block')
  const attributes = (index: number, transactions: readonly Uint8Array[]): PayloadAttributes => ({
    ...{ timestamp: last.timestamp + 2 * (index + 1), prevRandao: hashOf(`mixed ${index}`), suggestedFeeRecipient: last.feeRecipient },
    ...{ withdrawals: [], parentBeaconBlockRoot: hashOf(`beacon ${index}`), transactions: [l1Attributes, ...transactions] },
    ...{ noTxPool: true, gasLimit: last.gasLimit, eip1559Params: new Uint8Array(8) },
  })
  const funding = senders.flatMap(({ address }, index) => [
    userDeposit(`ether ${index}`, address, address, new Uint8Array(0), { mint: 10n ** 21n }),
    userDeposit(`tokens ${index}`, minter, token, concatBytes(mintSelector, word(BigInt(address)), word(minted))),
  ])
  const payloads = [
    await addBlock(chain, attributes(0, funding.slice(0, senders.length))),
    await addBlock(chain, attributes(1, funding.slice(senders.length))),
  ]
  let each = Number(blockGas / gasEach)
  for (let sent = 0; payloads.length < count + 2; ) {
    const raws = Array.from({ length: each }, () => {
      const picked = mix[Math.floor(Math.random() * mix.length)]
      if (picked === undefined) throw new Error('no transactions to draw from')
      const { to, value, data, gasLimit } = picked
      const at = sent++
      const nonce = BigInt(1 + Math.floor(at / senders.length)) // the deposit of the ether was the first
      const chainId = BigInt(chain.config.l2ChainId)
      return signedBy(senders[at % senders.length]?.name ?? '', { chainId, nonce, to, value, data, gasLimit, maxFeePerGas: 10n ** 10n })
    })
    const payload = await addBlock(chain, attributes(payloads.length, raws))
    payloads.push(payload)
    each = Math.ceil((each * Number(blockGas)) / Number(payload.gasUsed)) // a call that needs more than our accounts have costs less
    if (payloads.length % toldEvery === 0) process.stderr.write(`${payloads.length} blocks of the mix\n`)
  }
  await chain[Symbol.asyncDispose]()
  rmSync(datadir, { recursive: true })
  return payloads
}
