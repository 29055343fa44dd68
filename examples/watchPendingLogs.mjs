// node examples/watchPendingLogs.mjs: is told of the logs of a contract before their block is sealed, and of those that are taken back.
import { parseEther } from 'viem'
import { connect, wallet, weth } from './chain.mjs'

const listener = connect()
let isTold
const told = new Promise((resolve) => (isTold = resolve))
const { unsubscribe } = await listener.transport.subscribe({
  params: ['pendingLogs', { address: weth }],
  onData: ({ result: log }) => {
    const what = log.removed ? 'taken back' : 'preconfirmed'
    console.log(`log ${what}: block ${Number(log.blockNumber)}, transaction ${log.transactionHash}, data ${log.data}`)
    isTold()
  },
  onError: (error) => console.error(error.message),
})
await wallet.sendTransaction({ to: weth, value: parseEther('0.01') })
await told
await unsubscribe()
const connection = await listener.transport.getRpcClient()
connection.close()
