// node examples/b20.mjs: creates a B20 token, restricts its receivers by a policy, transfers, and reads it.
import {
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  formatUnits,
  http,
  keccak256,
  pad,
  parseAbi,
  parseEventLogs,
  parseUnits,
  stringToHex,
  toBytes,
} from 'viem'
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { account, chain, client, wallet } from './chain.mjs'

const activationRegistry = '0x8453000000000000000000000000000000000001'
const policyRegistry = '0x8453000000000000000000000000000000000002'
const factory = '0xB20f000000000000000000000000000000000000'
const abi = parseAbi([
  'function isActivated(bytes32 feature) view returns (bool)',
  'function activate(bytes32 feature)',
  'function createB20(uint8 variant, bytes32 salt, bytes params, bytes[] initCalls) returns (address)',
  'function createPolicyWithAccounts(address admin, uint8 policyType, address[] accounts) returns (uint64)',
  'function grantRole(bytes32 role, address account)',
  'function updatePolicy(bytes32 scope, uint64 id)',
  'function mint(address to, uint256 amount)',
  'function transferWithMemo(address to, uint256 amount, bytes32 memo)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function policyId(bytes32 scope) view returns (uint64)',
  'event B20Created(address indexed token, uint8 indexed variant, string name, string symbol, uint8 decimals, bytes variantParams)',
  'event PolicyCreated(uint64 indexed id, address indexed creator, uint8 policyType)',
  'error PolicyForbids(bytes32 scope, uint64 id)',
])
const hashOf = (name) => keccak256(toBytes(name))

/** Sends a call and waits until it is in a block. @returns the receipt */
async function send(from, address, functionName, args) {
  const hash = await from.writeContract({ address, abi, functionName, args })
  const receipt = await client.waitForTransactionReceipt({ hash })
  if (receipt.status !== 'success') throw new Error(`${functionName} failed in block ${receipt.blockNumber}`)
  return receipt
}

/** The admin of the activation registry: account 5 of the mnemonic. Its key is public: use it on this devnet only. */
const admin = createWalletClient({
  account: mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 5 }),
  chain,
  transport: http(),
})
for (const feature of ['base.b20_asset', 'base.policy_registry']) {
  const args = [hashOf(feature)]
  const isActive = await client.readContract({ address: activationRegistry, abi, functionName: 'isActivated', args })
  if (!isActive) await send(admin, activationRegistry, 'activate', args)
  console.log(`feature ${feature} is active`)
}

// an asset with 8 decimals; the calls at its creation need no role
const params = encodeAbiParameters(
  [{ type: 'tuple', components: [{ type: 'uint8' }, { type: 'string' }, { type: 'string' }, { type: 'address' }, { type: 'uint8' }] }],
  [[1, 'Gold', 'GLD', account.address, 8]],
)
const grant = encodeFunctionData({ abi, functionName: 'grantRole', args: [hashOf('MINT_ROLE'), account.address] })
const creation = await send(wallet, factory, 'createB20', [0, generatePrivateKey(), params, [grant]])
const [created] = parseEventLogs({ abi, logs: creation.logs, eventName: 'B20Created' })
const { token } = created.args
console.log(`token ${token} in block ${creation.blockNumber}`)

const [friend, stranger] = [generatePrivateKey(), generatePrivateKey()].map((key) => privateKeyToAccount(key).address)
const allowlist = 1
const listing = await send(wallet, policyRegistry, 'createPolicyWithAccounts', [account.address, allowlist, [account.address, friend]])
const [policy] = parseEventLogs({ abi, logs: listing.logs, eventName: 'PolicyCreated' })
const scope = hashOf('TRANSFER_RECEIVER_POLICY')
await send(wallet, token, 'updatePolicy', [scope, policy.args.id])
console.log(`receivers need policy ${await client.readContract({ address: token, abi, functionName: 'policyId', args: [scope] })}`)

const memo = pad(stringToHex('invoice 7'), { dir: 'right' })
await send(wallet, token, 'mint', [account.address, parseUnits('100', 8)])
await send(wallet, token, 'transferWithMemo', [friend, parseUnits('1.5', 8), memo])
const refused = { address: token, abi, functionName: 'transferWithMemo', args: [stranger, 1n, memo], account }
const error = await client.simulateContract(refused).then(
  () => undefined,
  (reason) => reason.walk((cause) => cause.data?.errorName !== undefined),
)
console.log(`a transfer to a stranger: ${error?.data.errorName}`)

const read = (functionName, ...args) => client.readContract({ address: token, abi, functionName, args })
const decimals = await read('decimals')
console.log(
  `${await read('name')} (${await read('symbol')}), ${decimals} decimals, supply ${formatUnits(await read('totalSupply'), decimals)}`,
)
for (const holder of [account.address, friend, stranger]) {
  console.log(`balance of ${holder}: ${formatUnits(await read('balanceOf', holder), decimals)}`)
}
