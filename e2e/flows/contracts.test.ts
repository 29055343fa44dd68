import { type EventLog, Interface, id } from 'ethers'
import { decodeEventLog, getContract, type Hex, keccak256, parseEther, parseEventLogs, toHex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { labAbi } from './lab.ts'
import {
  contracts,
  deployLab,
  deployLabByEthers,
  ethersProvider,
  ethersWallet,
  eventually,
  newcomers,
  type Person,
  viemL2,
  viemWallet,
} from './people.ts'

let somebody: () => Person

beforeAll(async () => {
  somebody = await newcomers(2, 14)
})

describe('viem', () => {
  it.concurrent('deploys a contract, reads and writes it', async () => {
    const { key, address } = somebody()
    const wallet = viemWallet(key)
    const { abi, bytecode } = contracts().lab
    const hash = await wallet.deployContract({ abi, bytecode, args: [77n], value: parseEther('1') })
    const receipt = await viemL2.waitForTransactionReceipt({ hash })
    const made = receipt.contractAddress
    if (!made) throw new Error('no contract address')
    expect(receipt).toMatchObject({ status: 'success', to: null })
    const lab = getContract({ address: made, abi: labAbi, client: { public: viemL2, wallet } })
    expect(await lab.read.values([0n])).toBe(77n)
    expect(await lab.read.maker()).toBe(address)
    expect(await viemL2.getBalance({ address: made })).toBe(parseEther('1'))
    expect((await viemL2.getCode({ address: made }))?.length).toBeGreaterThan(1_000)
    const { request, result } = await viemL2.simulateContract({
      address: made,
      abi: labAbi,
      functionName: 'store',
      args: [3n, 9n, 'nine'],
      account: address,
    })
    expect(result).toBeUndefined()
    const estimated = await viemL2.estimateContractGas({
      address: made,
      abi: labAbi,
      functionName: 'store',
      args: [3n, 9n, 'nine'],
      account: address,
    })
    const stored = await viemL2.waitForTransactionReceipt({ hash: await wallet.writeContract({ ...request, account: wallet.account }) })
    expect(stored.status).toBe('success')
    expect(stored.gasUsed).toBeLessThanOrEqual(estimated)
    expect(await lab.read.values([3n])).toBe(9n)
    expect(
      await viemL2.readContract({ address: made, abi: labAbi, functionName: 'values', args: [3n], blockNumber: stored.blockNumber - 1n }),
    ).toBe(0n)
    const slot = keccak256(`0x${'03'.padStart(64, '0')}${'00'.repeat(32)}`)
    expect(BigInt((await viemL2.getStorageAt({ address: made, slot })) ?? 0)).toBe(9n)
  })

  it.concurrent('an estimate for expensive work is enough, and half of it is not', async () => {
    const { key, address } = somebody()
    const lab = await deployLab(key)
    const call = { address: lab, abi: labAbi, functionName: 'burn', args: [40n], account: address } as const
    const gas = await viemL2.estimateContractGas(call)
    expect(gas).toBeGreaterThan(40n * 22_100n)
    const wallet = viemWallet(key)
    const write = { address: lab, abi: labAbi, functionName: 'burn', args: [40n] } as const
    const short = await viemL2.waitForTransactionReceipt({ hash: await wallet.writeContract({ ...write, gas: gas / 2n }) })
    const enough = await viemL2.waitForTransactionReceipt({ hash: await wallet.writeContract({ ...write, gas }) })
    expect([short.status, enough.status]).toEqual(['reverted', 'success'])
    expect(short.gasUsed).toBe(gas / 2n)
  })

  it.concurrent('reads logs: of a receipt, by range, by indexed value, by block hash, of a filter', async () => {
    const { key, address } = somebody()
    const lab = await deployLab(key)
    const wallet = viemWallet(key)
    const filter = await viemL2.createContractEventFilter({ address: lab, abi: labAbi, eventName: 'Stored', args: { key: 2n } })
    const write = async (k: bigint, value: bigint) =>
      await viemL2.waitForTransactionReceipt({
        hash: await wallet.writeContract({ address: lab, abi: labAbi, functionName: 'store', args: [k, value, `note ${k}`] }),
      })
    const receipts = [await write(1n, 10n), await write(2n, 20n), await write(2n, 21n)]
    const [first, , third] = receipts
    if (first === undefined || third === undefined) throw new Error('no receipts')
    expect(parseEventLogs({ abi: labAbi, logs: first.logs })).toMatchObject([
      { eventName: 'Stored', args: { by: address, key: 1n, value: 10n, note: 'note 1' }, address: lab, removed: false },
    ])
    const range = { fromBlock: first.blockNumber, toBlock: third.blockNumber } as const
    const logs = await viemL2.getContractEvents({ address: lab, abi: labAbi, eventName: 'Stored', ...range })
    expect(logs.map(({ args, blockNumber, transactionHash }) => [args.value, blockNumber, transactionHash])).toEqual(
      receipts.map(({ blockNumber, transactionHash }, at) => [[10n, 20n, 21n][at], blockNumber, transactionHash]),
    )
    const twos = await viemL2.getContractEvents({
      address: lab,
      abi: labAbi,
      eventName: 'Stored',
      args: { key: 2n, by: address },
      ...range,
    })
    expect(twos.map(({ args }) => args.value)).toEqual([20n, 21n])
    const either = await viemL2.getContractEvents({ address: lab, abi: labAbi, eventName: 'Stored', args: { key: [1n, 5n] }, ...range })
    expect(either.map(({ args }) => args.value)).toEqual([10n])
    const inBlock = await viemL2.getLogs({ address: lab, blockHash: third.blockHash })
    expect(inBlock.map((log) => decodeEventLog({ abi: labAbi, ...log }).args)).toMatchObject([{ value: 21n }])
    const changes = await viemL2.getFilterChanges({ filter })
    expect(changes.map(({ args }) => args.value)).toEqual([20n, 21n])
    expect(await viemL2.getFilterChanges({ filter })).toEqual([])
    expect(await viemL2.uninstallFilter({ filter })).toBe(true)
  })

  it.concurrent('watches events over HTTP', async () => {
    const { key } = somebody()
    const lab = await deployLab(key)
    const seen: unknown[] = []
    const unwatch = viemL2.watchContractEvent({
      address: lab,
      abi: labAbi,
      eventName: 'Stored',
      onLogs: (logs) => seen.push(...logs.map(({ args }) => args.value)),
    })
    const unwatchAny = viemL2.watchEvent({ address: lab, onLogs: (logs) => seen.push(...logs.map(({ topics }) => topics[0])) })
    await viemL2.waitForTransactionReceipt({ hash: await viemWallet(key).sendTransaction({ to: lab, value: 1n }) })
    const hash = await viemWallet(key).writeContract({ address: lab, abi: labAbi, functionName: 'store', args: [1n, 5n, ''] })
    await viemL2.waitForTransactionReceipt({ hash })
    await eventually(() => (seen.length >= 3 ? true : undefined))
    unwatch()
    unwatchAny()
    expect(seen).toContain(5n)
    expect(seen).toContain(keccak256(toHex('Received(address,uint256)')))
    expect(seen).toContain(keccak256(toHex('Stored(address,uint256,uint256,string)')))
  })

  it.concurrent('calls code that is not deployed: the constructor returns its run-time code', async () => {
    const { lab } = contracts()
    const data: Hex = `${lab.bytecode}${'00'.repeat(32)}`
    expect((await viemL2.call({ account: somebody().address, data })).data?.length).toBeGreaterThan(1_000)
  })
})

describe('ethers', () => {
  it.concurrent('deploys, reads, writes, and reads the log of the receipt', async () => {
    const { key, address } = somebody()
    const provider = ethersProvider()
    const lab = await deployLabByEthers(ethersWallet(key, provider), 78n)
    expect(await lab.getFunction('values')(0n)).toBe(78n)
    expect(await lab.getFunction('maker')()).toBe(address)
    const sent = await lab.getFunction('store').send(4n, 44n, 'forty-four')
    const receipt = await sent.wait()
    const [log] = receipt?.logs ?? []
    expect((log as EventLog).args.toArray()).toEqual([address, 4n, 44n, 'forty-four'])
    expect(await lab.getFunction('values')(4n)).toBe(44n)
    expect(await lab.getFunction('values')(4n, { blockTag: (receipt?.blockNumber ?? 1) - 1 })).toBe(0n)
    provider.destroy()
  })

  it.concurrent('queries events by filter, and receives new ones', async () => {
    const { key } = somebody()
    const provider = ethersProvider()
    const lab = await deployLabByEthers(ethersWallet(key, provider))
    const seen: bigint[] = []
    await lab.on('Stored', (_by, _key, value: bigint) => void seen.push(value))
    const once = new Promise((resolve) => void lab.once('Received', (from) => resolve(from)))
    for (const value of [1n, 2n]) await (await lab.getFunction('store').send(value, value, '')).wait()
    await (await ethersWallet(key, provider).sendTransaction({ to: await lab.getAddress(), value: 5n })).wait()
    await once
    await eventually(() => (seen.length === 2 ? true : undefined))
    expect(seen).toEqual([1n, 2n])
    const found = await lab.queryFilter(lab.filters['Stored']?.(null, 2n) ?? 'Stored')
    expect(found.map((event) => (event as EventLog).args['value'])).toEqual([2n])
    const raw = await provider.getLogs({ address: await lab.getAddress(), fromBlock: 0, topics: [id('Received(address,uint256)')] })
    const parsed = raw.map((log) => new Interface(contracts().lab.abi as never).parseLog(log)?.args['value'])
    expect(parsed).toEqual([5n])
    await lab.removeAllListeners()
    provider.destroy()
  })
})
