/**
 * Answers pings. While a pong is being sent, only the newest ping is kept, so a client that pings without reading holds at most one pong.
 * The server must have `autoPong` off.
 * @see RFC 6455, section 5.5.3
 */
export function answerPings(socket: {
  on(event: 'ping', listener: (data: Buffer) => void): unknown
  pong(data: Buffer, isMasked: boolean, sent: (error?: Error) => void): void
}): void {
  let isSending = false
  let newest: Buffer | undefined
  const answer = (data: Buffer): void => {
    if (isSending) {
      newest = data
      return
    }
    isSending = true
    socket.pong(data, false, (error) => {
      isSending = false
      const next = newest
      newest = undefined
      if (next !== undefined && !error) answer(next)
    })
  }
  socket.on('ping', answer)
}
