import { Contract, JsonRpcProvider, Wallet } from 'ethers'
import { encodeFunctionData, type Hex, parseEther } from 'viem'
import { describe, expect, it } from 'vitest'
import { applyConfigUpdates } from '#chainspec/configUpdate'
import { userDeposits } from '#chainspec/deposits'
import { createL1Client } from '#devnet/l1Client'
import { portalAddress, systemConfigAddress, unsafeBlockSignerSlot } from '#devnet/l1Contracts'
import type { DevnetL1 } from '#devnet/ports'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { decodeDeposit } from '#types/deposit'
import { type Hash, parseHash } from '#types/ids'
import { fees, inbox, signed, signedBlob } from '../harness/chain/devnetTransactions.ts'
import {
  addressOf,
  batcher,
  devnetL1Options,
  devnetSystemConfig,
  owner,
  portalAbi,
  provenBlob,
  sourceOf,
  stranger,
  systemConfigAbi,
  user,
  viemReader,
  viemWallet,
} from '../harness/l1/devnetL1.ts'

const { signal } = new AbortController()
const { genesisTimeSec, slotSec } = devnetL1Options

/** Mines a sent transaction and returns its receipt, as a wallet waits for it. */
async function mined(l1: DevnetL1, hash: Hex) {
  await l1.mine()
  return viemReader(l1).waitForTransactionReceipt({ hash })
}

async function blockOf(l1: DevnetL1, at: number) {
  using source = sourceOf(l1)
  return (await source.block(at, signal)) ?? expect.fail(`block ${at}`)
}

const headBlock = async (l1: DevnetL1) => blockOf(l1, (await l1.head()).number)

async function depositsIn(l1: DevnetL1) {
  const { ref, receipts } = await headBlock(l1)
  return userDeposits(portalAddress, ref.hash, receipts).map(decodeDeposit)
}

/** Tests that every devnet L1 must pass. */
export function devnetL1Contract(adapter: string, open: () => Promise<DevnetL1>): void {
  const send = (l1: DevnetL1, raw: Uint8Array): Promise<Hash> =>
    viemReader(l1).request({ method: 'eth_sendRawTransaction', params: [toHex(raw)] }) as Promise<Hash>

  describe(`devnet/ports DevnetL1, ${adapter}`, () => {
    it("gives block n the time genesis + n slots, keeps labels behind the head, and passes a node's verification", async () => {
      await using l1 = await open()
      using source = sourceOf(l1)
      await source.preflight(signal)
      expect(await l1.head()).toEqual({ ...l1.genesis, timestamp: genesisTimeSec })
      expect(await source.head('finalized', signal)).toMatchObject({ number: 0 })
      for (let number = 1; number <= 6; number++) {
        await l1.mine()
        const block = await blockOf(l1, number)
        expect(block.ref).toMatchObject({ number, timestamp: genesisTimeSec + number * slotSec })
        expect(await l1.head()).toMatchObject({ number, hash: block.ref.hash, timestamp: block.ref.timestamp })
      }
      using later = sourceOf(l1)
      expect(await later.head('latest', signal)).toMatchObject({ number: 6 })
      expect(await later.head('safe', signal)).toMatchObject({ number: 4 })
      expect(await later.head('finalized', signal)).toMatchObject({ number: 2 })
    })

    it("has the accounts' ether and the contracts' values at genesis", async () => {
      await using l1 = await open()
      const reader = viemReader(l1)
      expect(await reader.getBalance({ address: addressOf(user) })).toBe(parseEther('10000'))
      const read = (functionName: string) => reader.readContract({ address: systemConfigAddress, abi: systemConfigAbi, functionName })
      expect(String(await read('owner')).toLowerCase()).toBe(addressOf(owner))
      expect(await read('batcherHash')).toBe(`0x${'00'.repeat(12)}${addressOf(batcher).slice(2)}`)
      for (const name of ['overhead', 'scalar', 'gasLimit', 'operatorFeeConstant', 'minBaseFee'] as const) {
        expect(await read(name)).toBe(devnetSystemConfig[name])
      }
      for (const name of ['eip1559Denominator', 'eip1559Elasticity', 'operatorFeeScalar', 'daFootprintGasScalar'] as const) {
        expect(await read(name)).toBe(devnetSystemConfig[name])
      }
      const signer = await reader.getStorageAt({ address: systemConfigAddress, slot: unsafeBlockSignerSlot })
      expect(signer).toBe(`0x${'00'.repeat(12)}${addressOf(user).slice(2)}`)
    })

    it('lets viem’s wallet deposit: estimate, sign, send, wait, read the log', async () => {
      await using l1 = await open()
      await l1.mine()
      const to = addressOf(stranger)
      const args = [to, 5n, 100_000n, false, '0x1234'] as const
      const hash = await viemWallet(l1, user).writeContract({
        address: portalAddress,
        abi: portalAbi,
        functionName: 'depositTransaction',
        args,
        value: 7n,
        chain: null,
      })
      const receipt = await mined(l1, hash)
      expect(receipt.status).toBe('success')
      const logs = await viemReader(l1).getLogs({ address: portalAddress, fromBlock: 0n, toBlock: 'latest' })
      expect(logs).toMatchObject([{ transactionHash: hash, blockHash: receipt.blockHash, logIndex: 0 }])
      const deposit = { from: addressOf(user), to, mint: 7n, value: 5n, gasLimit: 100_000n, data: fromHex('0x1234') }
      expect(await depositsIn(l1)).toMatchObject([deposit])
    })

    it('lets ethers’ wallet deposit, with a call and with a plain transfer', async () => {
      await using l1 = await open()
      await l1.mine()
      const provider = new JsonRpcProvider(l1.rpcUrl, undefined, {
        staticNetwork: true,
        polling: true,
        pollingInterval: 20,
        cacheTimeout: -1,
      })
      try {
        const wallet = new Wallet(user, provider)
        const portal = new Contract(portalAddress, portalAbi as never, wallet)
        const sent = await portal.getFunction('depositTransaction')(addressOf(stranger), 1n, 30_000n, false, '0x', { value: 3n })
        await l1.mine()
        expect((await sent.wait())?.status).toBe(1)
        expect(await depositsIn(l1)).toMatchObject([{ mint: 3n, value: 1n, gasLimit: 30_000n }])
        const plain = await wallet.sendTransaction({ to: portalAddress, value: 9n })
        await l1.mine()
        expect((await plain.wait())?.status).toBe(1)
      } finally {
        provider.destroy()
      }
      const me = addressOf(user)
      expect(await depositsIn(l1)).toMatchObject([{ from: me, to: me, mint: 9n, value: 9n, gasLimit: 100_000n, data: new Uint8Array() }])
    })

    it('accepts config updates from the owner only, and derivation reads each', async () => {
      await using l1 = await open()
      await l1.mine()
      const calls = [
        ['setBatcherHash', [`0x${'00'.repeat(12)}${addressOf(stranger).slice(2)}`]],
        ['setGasConfigEcotone', [1, 2]],
        ['setGasLimit', [60_000_000n]],
        ['setUnsafeBlockSigner', [addressOf(stranger)]],
        ['setEIP1559Params', [100, 4]],
        ['setOperatorFeeScalars', [3, 4n]],
        ['setMinBaseFee', [5n]],
        ['setDAFootprintGasScalar', [6]],
      ] as const
      const wallet = viemWallet(l1, owner)
      let nonce = 0
      for (const [functionName, args] of calls) {
        const data = encodeFunctionData({ abi: systemConfigAbi, functionName, args: args as never })
        await wallet.sendTransaction({ to: systemConfigAddress, data, gas: 200_000n, nonce: nonce++, chain: null })
        const refused = viemReader(l1).call({ account: addressOf(user), to: systemConfigAddress, data })
        await expect(refused).rejects.toThrow(/revert/i)
      }
      await l1.mine()
      const { ref, receipts } = await headBlock(l1)
      expect(receipts.map(({ succeeded, logs }) => [succeeded, logs.length])).toEqual(calls.map(() => [true, 1]))
      const rollup = { schedule: { ecotone: 0 } as never, l1SystemConfig: systemConfigAddress }
      expect(applyConfigUpdates(devnetSystemConfig, rollup, { timestamp: ref.timestamp, receipts })).toEqual({
        skipped: [],
        systemConfig: {
          batcher: addressOf(stranger),
          overhead: 0n,
          scalar: (1n << 248n) | (2n << 32n) | 1n,
          gasLimit: 60_000_000n,
          eip1559Denominator: 100,
          eip1559Elasticity: 4,
          operatorFeeScalar: 3,
          operatorFeeConstant: 4n,
          minBaseFee: 5n,
          daFootprintGasScalar: 6,
        },
      })
    })

    it('mines calldata and blob transactions together, with the blobs in the slot of the block', async () => {
      await using l1 = await open()
      await l1.mine()
      const data = new Uint8Array(5_000).fill(7)
      const calldata = signed(user, 0n, { data, gasLimit: 1_000_000n })
      const carrying = signedBlob(0n)
      expect(await send(l1, calldata.raw)).toBe(calldata.hash)
      expect(await send(l1, carrying.wrapped)).toBe(carrying.hash)
      await l1.mine()
      const block = await headBlock(l1)
      expect(new Set(block.transactions.map(toHex))).toEqual(new Set([toHex(calldata.raw), toHex(carrying.raw)]))
      expect(block.receipts.map(({ succeeded }) => succeeded)).toEqual([true, true])
      const bare = await fetch(`${l1.beaconUrl}/eth/v1/beacon/blobs/${block.ref.number}?versioned_hashes=${provenBlob.hash}`)
      expect(((await bare.json()) as { data: string[] }).data).toEqual([toHex(provenBlob.blob)])
      const genesis = await fetch(`${l1.beaconUrl}/eth/v1/beacon/genesis`)
      expect(await genesis.json()).toMatchObject({ data: { genesis_time: String(genesisTimeSec) } })
      using source = sourceOf(l1)
      expect(await source.blobs(block.ref, [provenBlob.hash], signal)).toEqual([provenBlob.blob])
      const receipt = await viemReader(l1).getTransactionReceipt({ hash: carrying.hash })
      expect(receipt).toMatchObject({ type: 'eip4844', blobGasUsed: 131_072n, blobGasPrice: 1n })
    }, 90_000)

    it('reorg: replaces the last blocks by empty ones, accepts their transactions again and keeps pooled ones', async () => {
      await using l1 = await open()
      const reader = viemReader(l1)
      for (let i = 0; i < 4; i++) await l1.mine()
      const kept = await blockOf(l1, 2)
      const gone = signed(user, 0n, { value: 5n })
      await send(l1, gone.raw)
      await l1.mine()
      const before = await headBlock(l1)
      const later = signed(stranger, 0n, { value: 6n })
      await send(l1, later.raw)
      await l1.reorg(3)
      for (const number of [3, 4, 5]) {
        const block = await blockOf(l1, number)
        expect(block.transactions).toEqual([])
        expect(block.ref.timestamp).toBe(genesisTimeSec + number * slotSec)
      }
      expect((await blockOf(l1, 3)).ref.parentHash).toBe(kept.ref.hash)
      expect((await l1.head()).hash).not.toBe(before.ref.hash)
      await expect(reader.getTransactionReceipt({ hash: gone.hash })).rejects.toThrow(/could not be found/)
      expect(await reader.getTransactionCount({ address: addressOf(user) })).toBe(0)
      expect(await reader.getBalance({ address: inbox })).toBe(0n)
      using source = sourceOf(l1)
      expect(await source.block(before.ref.hash, signal)).toBeUndefined()
      await send(l1, gone.raw)
      await l1.mine()
      expect(new Set((await headBlock(l1)).transactions.map(toHex))).toEqual(new Set([toHex(gone.raw), toHex(later.raw)]))
    })

    it.each([0, 4, 1.5, -1])('reorg: rejects a depth of %s with three replaceable blocks (DEVNET_L1_DEPTH)', async (depth) => {
      await using l1 = await open()
      for (let i = 0; i < 3; i++) await l1.mine()
      const head = await l1.head()
      await expect(l1.reorg(depth)).rejects.toMatchObject({ code: 'DEVNET_L1_DEPTH', data: { most: 3 } })
      expect(await l1.head()).toEqual(head)
      await l1.reorg(3)
      expect(await l1.head()).toMatchObject({ number: 3, timestamp: head.timestamp })
    })

    it('reorg: gives three different chains after two reorgs of empty blocks', async () => {
      await using l1 = await open()
      // lower the base fee to its minimum, so that it does not make the blocks differ
      for (let i = 0; i < 160; i++) await l1.mine()
      const heads = [await l1.head()]
      for (let i = 0; i < 2; i++) {
        await l1.reorg(1)
        heads.push(await l1.head())
      }
      expect(new Set(heads.map(({ hash }) => hash)).size).toBe(3)
    })

    it('keeps a transaction after a nonce gap, rejects a used nonce, and counts mined and pending transactions', async () => {
      await using l1 = await open()
      await l1.mine()
      const reader = viemReader(l1)
      const count = (blockTag: 'latest' | 'pending') => reader.getTransactionCount({ address: addressOf(user), blockTag })
      const [first, second, third] = [0n, 1n, 2n].map((nonce) => signed(user, nonce))
      if (!first || !second || !third) expect.fail()
      await send(l1, third.raw)
      expect([await count('latest'), await count('pending')]).toEqual([0, 0])
      await send(l1, first.raw)
      expect([await count('latest'), await count('pending')]).toEqual([0, 1])
      await l1.mine()
      expect((await headBlock(l1)).transactions).toEqual([first.raw])
      await expect(reader.getTransactionReceipt({ hash: third.hash })).rejects.toThrow(/could not be found/)
      await expect(send(l1, signed(user, 0n, { value: 1n }).raw)).rejects.toThrow(/nonce too low/i)
      await expect(send(l1, third.raw)).rejects.toThrow(/already/i)
      await send(l1, second.raw)
      expect([await count('latest'), await count('pending')]).toEqual([1, 3])
      await l1.mine()
      expect((await headBlock(l1)).transactions).toEqual([second.raw, third.raw])
      expect([await count('latest'), await count('pending')]).toEqual([3, 3])
    })

    it('mines a failing transaction with status 0 and its fee, and rejects one without enough balance', async () => {
      await using l1 = await open()
      await l1.mine()
      const call = encodeFunctionData({ abi: systemConfigAbi, functionName: 'setMinBaseFee', args: [1n] as never })
      const failing = signed(user, 0n, { to: systemConfigAddress, data: fromHex(call) })
      await send(l1, failing.raw)
      const receipt = await mined(l1, failing.hash)
      expect(receipt).toMatchObject({ status: 'reverted', logs: [], to: systemConfigAddress })
      const balance = await viemReader(l1).getBalance({ address: addressOf(user) })
      expect(balance).toBe(parseEther('10000') - receipt.gasUsed * receipt.effectiveGasPrice)
      expect((await headBlock(l1)).receipts[0]?.succeeded).toBe(false)
      await expect(send(l1, signed(user, 1n, { value: parseEther('20000') }).raw)).rejects.toThrow(/insufficient/i)
      await expect(send(l1, signed(user, 1n, { gasLimit: 20_000n }).raw)).rejects.toThrow(/gas/i)
      await expect(send(l1, Uint8Array.of(2, 0xc0))).rejects.toThrow()
    })

    it('requires 10 % more for a replacement, twice the fees with blobs, and rejects the same price', async () => {
      await using l1 = await open()
      await l1.mine()
      const [cheap, same, dear] = [signed(user, 0n), signed(user, 0n, { value: 1n }), signed(user, 0n, { value: 2n, times: 110n })]
      const [cheapBlob, dearBlob] = [signedBlob(0n), signedBlob(0n, 200n)]
      await send(l1, cheap.raw)
      await send(l1, cheapBlob.wrapped)
      await expect(send(l1, same.raw)).rejects.toThrow(/underpriced/)
      await send(l1, dear.raw)
      await send(l1, dearBlob.wrapped)
      await l1.mine()
      const { transactions } = await headBlock(l1)
      expect(new Set(transactions.map(toHex))).toEqual(new Set([toHex(dear.raw), toHex(dearBlob.raw)]))
    }, 90_000)

    it('serves the batcher’s client: next nonce, sends, inclusion, rejections with their reason', async () => {
      await using l1 = await open()
      for (let i = 0; i < 2; i++) await l1.mine()
      const client = createL1Client({ fetch, clock: systemClock }, { url: l1.rpcUrl, account: addressOf(batcher) })
      const tip = await client.tip(signal)
      expect(tip).toMatchObject({ ...(await l1.head()), blobBaseFeeWei: 1n })
      const [first, again] = [signed(batcher, 0n), signed(batcher, 0n, { value: 1n })]
      expect(await client.nonces(signal)).toEqual({ latest: 0n, pending: 0n })
      await client.send(first.raw, signal)
      await client.send(first.raw, signal)
      expect(await client.nonces(signal)).toEqual({ latest: 0n, pending: 1n })
      expect(await client.inclusion(first.hash, signal)).toBeUndefined()
      const refusal = (raw: Uint8Array) => client.send(raw, signal).catch((error: unknown) => error)
      expect(await refusal(again.raw)).toMatchObject({ code: 'L1_TX_REFUSED', severity: 'retry', data: { reason: 'underpriced' } })
      await l1.mine()
      const { ref, header } = await headBlock(l1)
      expect(header.baseFeePerGas).toBe(tip.baseFeeWei)
      const price = tip.baseFeeWei + fees.maxPriorityFeePerGas
      const inclusion = { block: { hash: ref.hash, number: ref.number }, succeeded: true, feeWei: 21_000n * price }
      expect(await client.inclusion(first.hash, signal)).toEqual(inclusion)
      expect(await client.nonces(signal)).toEqual({ latest: 1n, pending: 1n })
      expect(await refusal(again.raw)).toMatchObject({ data: { reason: 'nonce-used' } })
      const poor = signed(batcher, 1n, { value: parseEther('20000') })
      expect(await refusal(poor.raw)).toMatchObject({ data: { reason: 'no-funds' } })
      expect(await refusal(Uint8Array.of(2, 0xc0))).toMatchObject({ data: { reason: 'other' } })
      await l1.reorg(1)
      expect(await client.inclusion(first.hash, signal)).toBeUndefined()
    })

    it('serves wallets: fees, estimates, calls with revert reasons, code, null for unknown items', async () => {
      await using l1 = await open()
      for (let i = 0; i < 3; i++) await l1.mine()
      const reader = viemReader(l1)
      expect(await reader.getChainId()).toBe(900)
      const { maxFeePerGas, maxPriorityFeePerGas } = await reader.estimateFeesPerGas()
      expect(maxFeePerGas).toBeGreaterThan(maxPriorityFeePerGas)
      expect(await reader.getGasPrice()).toBeGreaterThan(0n)
      const history = await reader.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })
      expect([history.baseFeePerGas.length, history.gasUsedRatio, history.oldestBlock]).toEqual([3, [0, 0], 2n])
      expect(await reader.estimateGas({ account: addressOf(user), to: addressOf(stranger), value: 1n })).toBe(21_000n)
      const wrong = { address: portalAddress, abi: portalAbi, functionName: 'depositTransaction' } as const
      const tooSmall = reader.simulateContract({ ...wrong, args: [addressOf(user), 0n, 20_999n, false, '0x'] })
      await expect(tooSmall).rejects.toThrow(/GasLimitTooLow/)
      expect(await reader.getCode({ address: portalAddress })).toMatch(/^0x60/)
      expect(await reader.getTransactionCount({ address: addressOf(stranger) })).toBe(0)
      await expect(reader.getBlock({ blockNumber: 9n })).rejects.toThrow(/could not be found/)
      await expect(reader.getTransaction({ hash: parseHash(`0x${'12'.repeat(32)}`) })).rejects.toThrow(/could not be found/)
      await expect(reader.request({ method: 'eth_noSuchThing' as never })).rejects.toThrow()
    })
  })
}
