// Asks a URL once, so many milliseconds after it is told to: from outside a process that is busy then.
const [url = '', afterMs = '0'] = process.argv.slice(2)

process.once('message', () => {
  setTimeout(async () => {
    const startMs = performance.now()
    const answer = await fetch(url)
    const text = await answer.text()
    process.send?.({ status: answer.status, text, tookMs: performance.now() - startMs }, () => process.exit(0))
  }, Number(afterMs))
})
process.send?.('ready')
