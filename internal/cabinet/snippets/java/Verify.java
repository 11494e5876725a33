// Verifies that a webhook request is genuine. Try it:
//
//   SECRET=whsec_… SIGNATURE=sha256=… java Verify.java < body.json
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
    // Takes the exact bytes of the body and the values of the headers
    // X-Service-Signature and X-Service-Signature-Previous, which is there
    // while a secret is being rotated and may hold several signatures.
    static boolean verify(String secret, byte[] body, String... signatures) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        String want = "sha256=" + HexFormat.of().formatHex(mac.doFinal(body));
        for (String signature : String.join(",", signatures).split(",")) {
            if (MessageDigest.isEqual(
                    signature.trim().getBytes(StandardCharsets.UTF_8), want.getBytes(StandardCharsets.UTF_8))) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        boolean genuine = verify(System.getenv("SECRET"), System.in.readAllBytes(),
                System.getenv("SIGNATURE"), System.getenv("SIGNATURE_PREVIOUS"));
        System.out.println(genuine ? "genuine" : "not genuine");
    }
}
