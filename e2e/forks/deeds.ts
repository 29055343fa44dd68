import { setTimeout } from 'node:timers/promises'
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  parseAbi,
  parseGwei,
} from 'viem'
import { generatePrivateKey, nonceManager, privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../../src/devnet/startDevnet.ts'
import { type compileLab, labAbi } from '../flows/lab.ts'
import { l1ChainOf, l2ChainOf } from '../flows/net.ts'
import type { Rollup } from './rules.ts'

/** A deposit on L1, and its expected result on L2. */
export type DepositKind = {
  readonly name: string
  readonly status: '0x1' | '0x0'
  /** exact; `all`: the whole gas limit; `some`: less than that */
  readonly gasUsed: bigint | 'all' | 'some'
  readonly logs: number
}

export const kinds: Readonly<Record<string, DepositKind>> = {
  mint: { name: 'mints more than it sends to an account', status: '0x1', gasUsed: 21_000n, logs: 0 },
  creation: { name: 'creates a contract with a balance', status: '0x1', gasUsed: 'some', logs: 0 },
  call: { name: 'calls a contract that logs', status: '0x1', gasUsed: 'some', logs: 1 },
  aliased: { name: 'comes from a contract, twice in one transaction', status: '0x1', gasUsed: 'some', logs: 0 },
  exact: { name: 'has just the gas of a transfer', status: '0x1', gasUsed: 21_000n, logs: 0 },
  reverts: { name: 'calls code that reverts', status: '0x0', gasUsed: 'some', logs: 0 },
  tooMuch: { name: 'sends more than the balance', status: '0x0', gasUsed: 'all', logs: 0 },
  tooLittleGas: { name: 'runs out of gas', status: '0x0', gasUsed: 'all', logs: 0 },
  received: { name: 'is ETH sent to the portal', status: '0x1', gasUsed: 21_000n, logs: 0 },
}

const portalAbi = parseAbi(['function depositTransaction(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes data) payable'])

/** Init code that returns one byte of code, 0x01. */
const tinyInitCode = '0x600160005360016000f3'

const systemConfigAbi = parseAbi([
  'function setGasConfig(uint256 overhead, uint256 scalar)',
  'function setGasConfigEcotone(uint32 baseFeeScalar, uint32 blobBaseFeeScalar)',
  'function setGasLimit(uint64 gasLimit)',
  'function setUnsafeBlockSigner(address signer)',
  'function setBatcherHash(bytes32 batcherHash)',
  'function setEIP1559Params(uint32 denominator, uint32 elasticity)',
  'function setOperatorFeeScalars(uint32 scalar, uint64 constant_)',
  'function setMinBaseFee(uint64 minBaseFee)',
  'function setDAFootprintGasScalar(uint16 scalar)',
])

/** Actors, each with a separate account, so that nonces and balances are predictable. */
export function cast(devnet: Devnet, { lab, depositor }: ReturnType<typeof compileLab>) {
  const { urls, chainId, l1ChainId, contracts, owner } = devnet
  const portal = contracts.portal as Hex
  const systemConfig = contracts.systemConfig as Hex
  const net = {
    rpcUrl: urls.rpc,
    wsUrl: urls.ws,
    l1Url: urls.l1,
    chainId,
    l1ChainId,
    accounts: [...devnet.accounts],
    contracts: { portal },
  }
  const key = (at: number): Hex => {
    const account = devnet.accounts[at]
    if (account === undefined) throw new RangeError(`no account ${at}`)
    return account.privateKey
  }
  const l1Wallet = (privateKey: Hex) =>
    createWalletClient({ account: privateKeyToAccount(privateKey, { nonceManager }), chain: l1ChainOf(net), transport: http() })
  const l2Wallet = (at: number) => createWalletClient({ account: privateKeyToAccount(key(at)), chain: l2ChainOf(net), transport: http() })
  const [l1, l2] = [
    createPublicClient({ chain: l1ChainOf(net), transport: http(), pollingInterval: 200 }),
    createPublicClient({ chain: l2ChainOf(net), transport: http(), pollingInterval: 200 }),
  ]
  const [person, payer, ownerWallet] = [l1Wallet(key(1)), l1Wallet(key(2)), l1Wallet(owner.privateKey)]
  const depositorAddress = getContractAddress({ from: payer.account.address, nonce: 0n })

  /** Sends deposits. @returns L1 transactions by kind of deposit, including the failing one */
  async function depositAll(labAddress: Hex, to: Hex): Promise<ReadonlyMap<string, Hex>> {
    const deposit = (target: Hex, value: bigint, gas: bigint, isCreation: boolean, data: Hex, mint: bigint): Promise<Hex> =>
      person.writeContract({
        address: portal,
        abi: portalAbi,
        functionName: 'depositTransaction',
        args: [target, value, gas, isCreation, data],
        value: mint,
        gas: 300_000n,
      })
    const store = encodeFunctionData({ abi: labAbi, functionName: 'store', args: [1n, 2n, 'from L1'] })
    const refuse = encodeFunctionData({ abi: labAbi, functionName: 'refuse', args: ['no'] })
    const burn = encodeFunctionData({ abi: labAbi, functionName: 'burn', args: [40n] })
    const zero = `0x${'00'.repeat(20)}` as const
    const viaContract = (times: bigint, fails: boolean): Promise<Hex> =>
      payer.writeContract({
        address: depositorAddress,
        abi: depositor.abi,
        functionName: 'deposit',
        args: [portal, to, times, 300n, 150n, 100_000n, `0x${'00'.repeat(32)}`, fails],
        value: 300n * times,
        gas: 600_000n,
      })
    const sent = [
      ['mint', deposit(to, 1_000n, 200_000n, false, '0x', 12_345_678_901_234_567n)],
      ['creation', deposit(zero, 7n, 900_000n, true, tinyInitCode, 7n)],
      ['call', deposit(labAddress, 0n, 400_000n, false, store, 0n)],
      ['exact', deposit(to, 10n ** 17n, 21_000n, false, '0x', 10n ** 18n)],
      ['reverts', deposit(labAddress, 3n, 100_000n, false, refuse, 5n)],
      ['tooMuch', deposit(to, 10n ** 30n, 200_000n, false, '0x', 0n)],
      ['tooLittleGas', deposit(labAddress, 0n, 22_500n, false, burn, 0n)],
      ['received', person.sendTransaction({ to: portal, value: 55n, gas: 100_000n })],
      ['aliased', viaContract(2n, false)],
      ['failing on L1', viaContract(1n, true)],
    ] as const
    return new Map(await Promise.all(sent.map(async ([kind, hash]) => [kind, await hash] as const)))
  }

  return {
    l1,
    l2,
    portal,
    depositorAddress,
    /** sender of the deposits that no contract makes */
    person: person.account.address,
    /** Deploys the contract on L1 that deposits; the first transaction of its account. */
    deployDepositor: async (): Promise<void> => {
      const hash = await payer.deployContract({ abi: depositor.abi, bytecode: depositor.bytecode, gas: 1_500_000n })
      const { contractAddress } = await l1.waitForTransactionReceipt({ hash })
      if (contractAddress?.toLowerCase() !== depositorAddress.toLowerCase()) throw new Error('the depositor has another address')
    },
    deployLab: async (): Promise<Hex> => {
      const hash = await l2Wallet(3).deployContract({ abi: lab.abi, bytecode: lab.bytecode, args: [1n], gas: 2_000_000n, type: 'legacy' })
      const { contractAddress } = await l2.waitForTransactionReceipt({ hash })
      if (!contractAddress) throw new Error('no Lab')
      return contractAddress
    },
    depositAll,
    /** Changes the system config on L1. */
    configure: (name: string, ...args: readonly unknown[]): Promise<Hex> =>
      ownerWallet.sendTransaction({
        to: systemConfig,
        data: encodeFunctionData({ abi: systemConfigAbi as Abi, functionName: name, args }),
        gas: 200_000n,
      }),
    walletOnL2: l2Wallet,
    /** fees that are always sufficient */
    fees: { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1') },
  }
}
export type Cast = ReturnType<typeof cast>

/** Sends transactions of every type of the phase, several a block, until stopped. */
export async function keepSending({ walletOnL2, fees }: Cast, rollup: Rollup, lab: Hex, signal: AbortSignal): Promise<number> {
  const wallet = walletOnL2(4)
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  let nonce = 0
  while (!signal.aborted) {
    const kind = nonce % 4
    const common = { nonce, gas: 120_000n, to: `0x${'99'.repeat(20)}` as Hex, value: 1n }
    if (kind === 0) await wallet.sendTransaction({ ...common, type: 'legacy', gasPrice: maxFeePerGas })
    else if (kind === 1) await wallet.sendTransaction({ ...common, type: 'eip2930', gasPrice: maxFeePerGas, accessList: [] })
    else if (kind === 2 || Date.now() / 1_000 - 4 < rollup.isthmus_time) {
      await wallet.sendTransaction({ ...common, type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas })
    } else {
      // the authorization is of a new account: an account with code may have only one waiting transaction
      const somebody = privateKeyToAccount(generatePrivateKey())
      const authorization = await somebody.signAuthorization({ address: lab, chainId: rollup.l2_chain_id, nonce: 0 })
      await wallet.sendTransaction({ ...common, type: 'eip7702', authorizationList: [authorization], maxFeePerGas, maxPriorityFeePerGas })
    }
    nonce++
    await setTimeout(150)
  }
  return nonce
}
