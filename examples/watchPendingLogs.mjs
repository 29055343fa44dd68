// node examples/watchPendingLogs.mjs: prints the logs of a contract before their block is sealed, and the dropped ones.
import { parseEther } from 'viem'
import { connect, wallet, weth } from './chain.mjs'

const listener = connect()
let onLog
const firstLog = new Promise((resolve) => (onLog = resolve))
const { unsubscribe } = await listener.transport.subscribe({
  params: ['pendingLogs', { address: weth }],
  onData: ({ result: log }) => {
    const state = log.removed ? 'dropped' : 'preconfirmed'
    console.log(`log ${state}: block ${Number(log.blockNumber)}, transaction ${log.transactionHash}, data ${log.data}`)
    onLog()
  },
  onError: (error) => console.error(error.message),
})
await wallet.sendTransaction({ to: weth, value: parseEther('0.01') })
await firstLog
await unsubscribe()
const connection = await listener.transport.getRpcClient()
connection.close()
